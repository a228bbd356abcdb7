package build

import (
	"os"
	"strconv"
	"strings"
)

// Machine is what the machine has to spare.
type Machine interface {
	// FreeDisk returns the bytes that the user can still write to the file system of an existing folder, and a number
	// that is the same for folders of one file system. ok is false when nobody knows.
	FreeDisk(dir string) (bytes, volume uint64, ok bool)
	// FreeMemory returns the bytes that processes can still get. ok is false when nobody knows.
	FreeMemory() (bytes uint64, ok bool)
}

// Host is the machine that this process runs on.
type Host struct{}

// FreeDisk implements [Machine].
func (Host) FreeDisk(dir string) (bytes, volume uint64, ok bool) { return freeDisk(dir) }

// FreeMemory reads from Linux the smaller amount of what the system and this process' control group have free. It
// returns false for ok on other systems.
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

// groupMemory returns what a control group (version 2) has free: its limit less what it uses, without caches.
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

// number reads a file that holds one; "max" and everything else is none.
func number(path string) (uint64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}
