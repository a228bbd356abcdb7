package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A release that can't be started any more is told of by each site, once, however often it is tried again.
func TestBrokenReleaseIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	directory := folder(t, "1.0.0", "1.1.0")
	m := w.run(directory)
	var all []string
	for n := range 5 {
		all = append(all, fmt.Sprintf("site-%d", n))
		w.create(all[n], "1.0.0")
	}
	w.settled("1.0.0")
	w.AwaitQuiet(t, w.operator)
	program := filepath.Join(directory, "1.1.0", "site-operator")
	require.NoError(t, os.Remove(program))
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho no operator >&2\nexit 3\n"), 0o755))
	for _, pid := range m.children(t) {
		victim, err := os.FindProcess(pid)
		require.NoError(t, err)
		if parentOf(pid) == m.PID() {
			require.NoError(t, victim.Kill())
		}
	}
	w.Eventually("it is known to have ended", func() bool { return strings.Count(m.Output(), "signal: killed") >= 2 })
	mark := w.Mark(t)
	for _, name := range all {
		w.upgrade(name, "1.1.0")
	}
	for _, name := range all {
		w.Eventually(name+" says why it isn't upgraded", func() bool {
			return strings.Contains(conditionOf(w.Get(sites, name), status.ConditionReady).Message, "version 1.1.0: its process has ended: exit status 3: no operator")
		})
	}
	w.Eventually("it is tried again", func() bool { return strings.Count(m.Output(), `msg="no operator"`) >= 6 })
	time.Sleep(time.Second) // whatever is to be said of the last try
	want := map[string]int{}
	for _, name := range all {
		want["patch sites/"+name+"/status"] = 1
	}
	assert.Equal(t, want, w.written(mark))

	good := program + ".good"
	require.NoError(t, os.Link(filepath.Join(versions(t), "1.1.0", "site-operator"), good))
	require.NoError(t, os.Rename(good, program))
	w.settled("1.1.0")
}
