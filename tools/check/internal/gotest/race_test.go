package gotest_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/operkit/operkit/tools/check/internal/gotest"
	"github.com/operkit/operkit/tools/check/repository"
)

func TestRaceDetector(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	syscall.ForkLock.RLock() // a process forked while a program is written makes it "text file busy"
	for name, script := range map[string]string{"good-cc": "exit 0", "bad-cc": "echo 'stdlib.h: no such file' >&2; exit 1"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Error(err)
		}
	}
	syscall.ForkLock.RUnlock()
	good, bad := filepath.Join(bin, "good-cc"), filepath.Join(bin, "bad-cc")
	for _, row := range []struct {
		reason, cgo, compiler string
		ok                    bool
		say                   string
	}{
		{"a compiler that works", "1", good, true, ""},
		{"a compiler with flags", "1", good + " -m64", true, ""},
		{"cgo is switched off", "0", good, false, "CGO_ENABLED is 0"},
		{"a compiler without headers", "1", bad, false, "bad-cc does not work"},
		{"no compiler, cgo asked for", "1", filepath.Join(bin, "none"), false, "none does not work"},
		{"no compiler, the go command switched cgo off", "", filepath.Join(bin, "none"), false, "install gcc"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			env := repository.Setenv(repository.Setenv(os.Environ(), "CC", row.compiler), "CGO_ENABLED", row.cgo)
			ok, reason, err := gotest.RaceDetector(t.Context(), env)
			if err != nil {
				t.Fatal(err)
			}
			if ok != row.ok || !strings.Contains(reason, row.say) || (row.say == "") != (reason == "") {
				t.Errorf("%v, %q; want %v and %q", ok, reason, row.ok, row.say)
			}
		})
	}
}
