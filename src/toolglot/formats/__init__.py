"""One file a text format, declarations only. The file's name is the format's id; nothing else has to be edited."""
