#!/bin/bash
# The machines of a Crosstown cluster as one job of SLURM: a worker on each node, for all cores of the task.
# Submit it with: sbatch FILE. The job may begin before or after the run, and several jobs may serve one scheduler.
#SBATCH --job-name=crosstown
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task={cpus}
#SBATCH --time={hours}:00:00
#SBATCH --output=crosstown-%j.log
# A node that fails ends its own worker only.
#SBATCH --no-kill
set -euo pipefail

# Runs on each node. Bots are copied to, and built in, a folder of yours on the node's own disk.
worker='
set -euo pipefail
CROSSTOWN_CACHE="${{SLURM_TMPDIR:-/tmp}}/crosstown-cache-$UID"
mkdir -p -m 700 "$CROSSTOWN_CACHE"
if [ ! -O "$CROSSTOWN_CACHE" ] || [ -L "$CROSSTOWN_CACHE" ]; then
  echo "$SLURMD_NODENAME: $CROSSTOWN_CACHE belongs to somebody else; set SLURM_TMPDIR to another folder" >&2
  exit 1
fi
export CROSSTOWN_CACHE
exec crosstown cluster worker --name "$SLURMD_NODENAME" "$@"
'
cpus="${{SLURM_CPUS_PER_TASK:-{cpus}}}"
exec srun --no-kill --kill-on-bad-exit=0 --cpus-per-task="$cpus" bash -c "$worker" worker \
  {scheduler} --slots "$cpus" \
  --ca {pki}/ca.pem --cert {pki}/{name}.pem --key {pki}/{name}-key.pem
