"""The only control flow: the machine that parses, whole and streamed, detection, and the renderer."""
