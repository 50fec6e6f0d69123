"""Options of the commands that several files know; nothing here needs the optional packages."""

OPTIONS = ("superpixels", "threshold", "ignore", "side", "words", "seed")
"""Options of ``graph`` that a file remembers."""

WORDS = 60
"""Visual words at each scale, where nothing else is said."""

MOST_JOBS = 1024
"""More processes than this are a slip of the hand."""
