"""The tools of the lesson: pictures, stories, checks. Students get them as one file, ``paged_lesson.py``.

The release step joins the modules of this folder; they import one another, the standard library and what the lesson
has anyway, and nothing else of this package. A student's own names are looked up in the notebook when they are needed.
"""
