#!/usr/bin/env bash
# Builds the image: Python, the CPU build of torch, then what environment.yml names.
set -euo pipefail
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends wget ca-certificates libseccomp2

wget -nv -O miniforge.sh "https://github.com/conda-forge/miniforge/releases/download/@MINIFORGE@/Miniforge3-Linux-$(uname -m).sh"
bash miniforge.sh -b -p /root/miniforge3
rm miniforge.sh
export PATH=/root/miniforge3/bin:$PATH

mamba create -y -n otter-env "python=@PYTHON@" pip
otter_env=/root/miniforge3/envs/otter-env
"$otter_env/bin/pip" install "uv==@UV@"
"$otter_env/bin/uv" pip install --python "$otter_env/bin/python" --torch-backend cpu "torch==@TORCH@"
mamba env update -n otter-env -f environment.yml

# Kernels without Landlock: students' code runs under a user of its own, which may use Python but not read the tests.
package=$("$otter_env/bin/python" -c 'import autograder, pathlib; print(pathlib.Path(autograder.__file__).parent)')
chmod -R go-rwx "$package" "$PWD"
chmod a+x /root
