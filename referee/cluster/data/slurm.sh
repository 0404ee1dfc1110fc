#!/bin/bash
# The machines of a Crosstown cluster as one job of SLURM: a worker on each node, for all cores of the task.
# Submit it with: sbatch FILE. The job may begin before or after the run, and several jobs may serve one scheduler.
#SBATCH --job-name=crosstown
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task={cpus}
#SBATCH --time={hours}:00:00
#SBATCH --output=crosstown-%j.log
set -euo pipefail

# Bots are copied to, and built in, a folder on the node's own disk.
export CROSSTOWN_CACHE="${{SLURM_TMPDIR:-/tmp}}/crosstown-cache-$USER"

# A node that fails ends its own worker only.
exec srun --kill-on-bad-exit=0 crosstown cluster worker {scheduler} \
  --slots "${{SLURM_CPUS_PER_TASK:-{cpus}}}" \
  --ca {pki}/ca.pem --cert {pki}/{name}.pem --key {pki}/{name}-key.pem
