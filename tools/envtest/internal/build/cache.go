package build

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// keep is how many cached programs are kept, whatever their age.
	keep = 3
	// idle is the time without use after which a cached program is removed.
	idle = time.Hour
	// idleUnseen replaces idle on systems that don't report which programs are running.
	idleUnseen = 7 * 24 * time.Hour
)

// usable returns the path if the cached program exists, and "" otherwise. It records now as the time of the last use.
func usable(path string, now time.Time) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return ""
	}
	_ = os.Chtimes(path, now, now) // this fails in another user's cache; only that user's clean needs the time
	return path
}

// clean removes cached programs of older sources. It keeps the newest programs, recently used programs, and running
// programs. The caller holds the lock. It ignores programs that it can't remove.
func clean(cache, current string, now time.Time) {
	folders, err := filepath.Glob(filepath.Join(cache, "*", "."))
	if err != nil {
		return
	}
	used := map[string]time.Time{}
	for _, folder := range folders {
		name := filepath.Join(folder, programName)
		info, err := os.Stat(name)
		switch {
		case name == current:
		case err == nil:
			used[name] = info.ModTime()
		case errors.Is(err, os.ErrNotExist): // left by a build that was killed
			_ = os.RemoveAll(filepath.Clean(folder))
		}
	}
	old := slices.SortedFunc(maps.Keys(used), func(a, b string) int { return used[b].Compare(used[a]) })
	if len(old) < keep {
		return
	}
	running, known := runningPrograms()
	limit := idle
	if !known {
		limit = idleUnseen
	}
	for _, name := range old[keep-1:] { // current is one of the kept programs
		if now.Sub(used[name]) >= limit && !running[name] {
			_ = os.RemoveAll(filepath.Dir(name))
		}
	}
}

// runningPrograms returns the files that running processes of this user were started from. known is false if the system
// doesn't report them.
func runningPrograms() (programs map[string]bool, known bool) {
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil || len(links) == 0 {
		return nil, false
	}
	programs = map[string]bool{}
	for _, link := range links {
		if program, err := os.Readlink(link); err == nil {
			programs[strings.TrimSuffix(program, " (deleted)")] = true
		}
	}
	return programs, true
}
