package build

import (
	"os"
	"strconv"
	"strings"
)

// Machine reports the free disk space and memory of a machine.
type Machine interface {
	// FreeDisk returns how many bytes the user can still write to the file system of an existing folder. volume is the
	// same for all folders of one file system. ok is false if this is unknown.
	FreeDisk(dir string) (bytes, volume uint64, ok bool)
	// FreeMemory returns how many bytes of memory processes can still get. ok is false if this is unknown.
	FreeMemory() (bytes uint64, ok bool)
}

// Host is the machine that this process runs on.
type Host struct{}

// FreeDisk implements [Machine].
func (Host) FreeDisk(dir string) (bytes, volume uint64, ok bool) { return freeDisk(dir) }

// FreeMemory returns the free memory of the system or of this process' control group, whichever is smaller. It works on
// Linux only; on other systems ok is false.
func (Host) FreeMemory() (bytes uint64, ok bool) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "MemAvailable:" {
			kilobytes, err := strconv.ParseUint(fields[1], 10, 64)
			bytes, ok = kilobytes*1024, err == nil
		}
	}
	if limit, known := groupMemory("/sys/fs/cgroup"); known && ok {
		bytes = min(bytes, limit)
	}
	return bytes, ok
}

// groupMemory returns the free memory of a control group (version 2): its limit minus the memory that it uses without
// file caches.
func groupMemory(dir string) (bytes uint64, known bool) {
	limit, ok := number(dir + "/memory.max")
	if !ok {
		return 0, false
	}
	used, ok := number(dir + "/memory.current")
	if !ok {
		return 0, false
	}
	stat, err := os.ReadFile(dir + "/memory.stat")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(stat)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "file" {
			if cached, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
				used -= min(used, cached)
			}
		}
	}
	return limit - min(limit, used), true
}

// number reads a file with a number. It returns false if the file can't be read or has other content, such as "max".
func number(path string) (uint64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
