package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/operkit/operkit/tools/peers/ratio"
)

// setupCommand is the command with which this program only does a setup.
const setupCommand = "setup-alone"

func (l lab) counts() []ratio.Count {
	return []ratio.Count{
		{Name: "vcs-setup-rss", Goal: 256, Measure: l.setupMemory, Hint: "a heap profile of Setup: what is kept for each object, and the caches of readers"},
	}
}

// setupAlone does a setup, and prints the peak memory of this process.
func setupAlone(source, destination string) error {
	if err := ourSetup(source, destination); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if kibibytes, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Println(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kibibytes), "kB")))
			return nil
		}
	}
	return errors.New("/proc/self/status doesn't tell VmHWM")
}

// setupMemory returns the peak memory in MiB of a setup of the large repository in a separate process.
func (l lab) setupMemory() (mebibytes float64, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	return setupMemory(self, l.large)
}

// setupMemory runs a setup by program. It prints git's memory for comparison.
func setupMemory(program, source string) (mebibytes float64, err error) {
	err = inScratch(func(folder string) error {
		out, err := output(exec.Command(program, setupCommand, source, filepath.Join(folder, "ours")))
		if err != nil {
			return err
		}
		kibibytes, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
		mebibytes = kibibytes / 1024
		if err != nil {
			return err
		}
		script := gitSetupCommand(source, filepath.Join(folder, "git"))
		if _, err := output(script); err != nil {
			return err
		}
		if usage, ok := script.ProcessState.SysUsage().(*syscall.Rusage); ok {
			fmt.Fprintf(os.Stderr, "  vcs-setup-rss: the largest process of git's takes %d MiB\n", usage.Maxrss/1024)
		}
		return nil
	})
	return mebibytes, err
}
