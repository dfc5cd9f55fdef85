"""What every measurement needs: clocks and watts while something runs, peaks, and lines of JSON."""
import gc
import json
import statistics
import sys
import threading
import time

import pynvml
import torch

MIB = 1 << 20


class Watch:
    """SM clock [MHz] and draw [W] of device 0, every 20 ms while inside."""

    def __enter__(self):
        pynvml.nvmlInit()
        self.handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        self.clocks, self.watts, self.running = [], [], True
        self.thread = threading.Thread(target=self._sample, daemon=True)
        self.thread.start()
        return self

    def _sample(self):
        while self.running:
            self.clocks.append(pynvml.nvmlDeviceGetClockInfo(self.handle, pynvml.NVML_CLOCK_SM))
            self.watts.append(pynvml.nvmlDeviceGetPowerUsage(self.handle) / 1000)
            time.sleep(0.02)

    def __exit__(self, *_):
        self.running = False
        self.thread.join()

    def figures(self):
        """The means of the later half: NVML averages watts over a while itself."""
        half = len(self.clocks) // 2
        return {"sm_mhz": round(statistics.mean(self.clocks[half:])),
                "watts": round(statistics.mean(self.watts[half:]))}


def emit(**facts):
    print(json.dumps(facts), flush=True)


def failed(name, error):
    emit(name=name, error=f"{type(error).__name__}: {str(error)[:300]}")


def release():
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def peak(key="allocated_bytes.all.peak"):
    return torch.cuda.memory_stats().get(key, 0)


def device_bytes():
    """What CUDA says is taken on the whole device, context and all."""
    free, total = torch.cuda.mem_get_info()
    return total - free


def timed(run, seconds, least=3, most=100000):
    """Seconds of one call: the mean over back-to-back calls that take about `seconds`."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(least):
        run()
    end.record()
    torch.cuda.synchronize()
    once = start.elapsed_time(end) / least / 1000
    calls = max(least, min(most, int(seconds / max(once, 1e-6))))
    start.record()
    for _ in range(calls):
        run()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / calls / 1000


class Clock:
    """Stops a list of measurements in time: what comes last is what can be missed."""

    def __init__(self):
        self.deadline = time.time() + float(sys.argv[1]) if len(sys.argv) > 1 else float("inf")

    def over(self):
        return time.time() > self.deadline
