"""The playground: a page that shows what Toolglot makes of a text.

``api.answer`` is all that the page asks of Python: JSON text in, JSON text out. In a static folder (`build`) it runs in
the page itself, under Pyodide; for ``toolglot playground`` (`server`) the Python of this machine runs it.
"""
