"""A submission that searches everything it can reach for canaries of the grader, and the canaries.

The patterns are written so that they do not match themselves (``q3[.]basic``): what is found is never the hunter.
"""

CANARIES = {
    "hidden test": rb"q3[.]refusal_changes_nothing",
    "scenario": rb"drawn_scenario[s]",
    "model": rb"ReferencePoo[l]",
    "comparison": rb"first_deviatio[n]",
    "seed": rb"whic[h] everybody knows",
    "solution": rb"BEGIN SOLUTIO[N]",
}
"""A text that occurs in each kind of secret, in its source and, where there is one, in its compiled form."""

OWN = {"worker": rb"The only code of ours beside the studen[t]"}
"""What is in every child, by which a hunt shows that it does look."""

HUNT = r'''
import ctypes, gc, os, re, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.write.restype, libc.write.argtypes = ctypes.c_ssize_t, [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
PAGE = 4096


def memory():
    """Yield what stands around every object, and on the stack: pipes take a page or say that there is none."""
    reader, writer = os.pipe()
    seen = set()
    def page(number):
        if number in seen:
            return b""
        seen.add(number)
        taken = libc.write(writer, number * PAGE, PAGE)
        return os.read(reader, taken) if taken > 0 else b""
    starts = {id(thing) // PAGE for thing in gc.get_objects()}
    starts.add(ctypes.addressof(ctypes.c_int()) // PAGE)
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    starts.add(ctypes.addressof(environ) // PAGE)
    starts.add(ctypes.cast(environ, ctypes.c_void_p).value // PAGE)
    for start in sorted(starts):
        for step in (1, -1):
            number = start if step == 1 else start - 1
            block = []
            while number not in seen and len(block) < 4096:
                content = page(number)
                if not content:
                    break
                block.append(content)
                number += step
            yield b"".join(block if step == 1 else block[::-1])


def files():
    """Yield what stands in every file of ours or of somebody's course that can be read."""
    roots = [*sys.path, os.getcwd(), *PLACES, "/proc/self", "/proc/1", f"/proc/{os.getppid()}"]
    for module in list(sys.modules.values()):
        path = getattr(module, "__path__", None)
        if module.__name__.startswith("autograder") and path:
            roots += path
    for root in roots:
        for name in ("environ", "cmdline", "maps"):
            yield contents(os.path.join(root, name))
        for folder, folders, names in os.walk(root):
            depth = folder[len(root):].count(os.sep)
            folders[:] = [f for f in folders if depth < 4 and ("autograder" in folder + f or f == "solutions")]
            for name in names:
                ours = "autograder" in folder or "solutions" in folder
                if ours and name.endswith((".py", ".pyc", ".ipynb", ".toml")):
                    yield contents(os.path.join(folder, name))


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 22)
    except OSError:
        return b""


def descriptors():
    for fd in range(5, 1024):
        try:
            yield os.pread(fd, 1 << 20, 0)
        except OSError:
            pass


def names():
    frame = sys._getframe()
    while frame:
        yield repr([*frame.f_locals, frame.f_code.co_filename, *frame.f_globals]).encode()
        frame = frame.f_back
    yield repr([*os.environ.items(), *sys.argv, *getattr(sys, "orig_argv", ()), *sys.modules]).encode()


def search():
    found = set()
    for place in (memory, files, descriptors, names):
        for content in place():
            for name, pattern in CANARIES.items():
                if re.search(pattern, content):
                    found.add(f"{name} by {place.__name__}")
    return found
'''


def hunter(places: list[str]) -> str:
    """Return the hunter's source; ``places`` are folders it looks into beside those it can think of."""
    return f"CANARIES = {CANARIES | OWN!r}\nPLACES = {places!r}\n{HUNT}"
