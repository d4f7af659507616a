# %% [markdown]
# # The stems of a recording
#
# Separates several sounds of one file, and the rest. Run it as a program, or cell by cell in an
# editor that knows `# %%`. It needs `pip install winnow-client`, and WINNOW_API_KEY in the
# environment; WINNOW_URL, MIXTURE, PROMPTS and OUT have defaults.

# %%
import mimetypes
import os
from pathlib import Path

from winnow_client import Client

mixture = Path(os.environ.get("MIXTURE", "examples/speech-over-piano.wav"))
prompts = os.environ.get("PROMPTS", "a person speaking, piano").split(", ")
out = Path(os.environ.get("OUT", "stems"))
client = Client(os.environ.get("WINNOW_URL", "http://127.0.0.1:8080"), os.environ["WINNOW_API_KEY"])

# %% [markdown]
# The file is streamed, so it may be larger than the memory.

# %%
content_type = mimetypes.guess_type(mixture)[0] or "audio/wav"
file_id = client.upload(
    mixture, content_type, lambda part: print(f"\rsent {part:.0%}", end="", flush=True)
)
print()

# %% [markdown]
# A single request for all prompts decodes the mixture once, and its residual lacks all the sounds.

# %%
request = client.submit({"input": {"prompts": prompts, "file_id": file_id}})
for status in client.follow(request):
    print(status["status"], f"{status['progress']:.0%}" if "progress" in status else "")
data = client.wait(request)["data"]

# %% [markdown]
# Every prompt gets a file; the findings say whether it contains the sound.

# %%
for finding in data.get("findings", []):
    print(finding["message"])

# %%
out.mkdir(exist_ok=True)
for output in [*data["targets"], data["residual"]]:
    client.download(output["url"], out / output["file_name"])
    print(out / output["file_name"])

# %% [markdown]
# In a notebook the stems can be played:

# %%
if "get_ipython" in globals():
    from IPython.display import Audio, display

    for path in sorted(out.iterdir()):
        display(path.name, Audio(filename=path))
