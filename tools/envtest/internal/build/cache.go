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
	// keep is how many cached programs stay whatever their age.
	keep = 3
	// idle is how long a cached program must not have been asked for before it goes.
	idle = time.Hour
	// idleUnseen is the same where nobody can tell whether the program runs.
	idleUnseen = 7 * 24 * time.Hour
)

// usable returns the cached program and notes that it was asked for, or "" when it isn't there.
func usable(path string, now time.Time) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return ""
	}
	_ = os.Chtimes(path, now, now) // another user's cache: only their cleaning up asks for it
	return path
}

// clean removes cached programs of older sources: all but the newest few, none that was asked for lately, none that
// runs. It is called with the lock held. What it can't remove stays: that is no reason to fail a build.
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
		case errors.Is(err, os.ErrNotExist): // what a build that was killed has left
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
	for _, name := range old[keep-1:] { // the current one is kept too
		if now.Sub(used[name]) >= limit && !running[name] {
			_ = os.RemoveAll(filepath.Dir(name))
		}
	}
}

// runningPrograms returns the files that running processes of this user were started from. known is false where the
// system doesn't tell.
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
