package lifeline

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// Environment names the variable that tells a child which file descriptor is its lifeline.
const Environment = "OPERKIT_DEVCLUSTER_LIFELINE"

// firstExtraFile is the descriptor of the first of exec.Cmd.ExtraFiles in the child.
const firstExtraFile = 3

// Line is the parent's side. It may be attached to any number of children.
type Line struct {
	reader, writer *os.File
}

// New makes a lifeline.
func New() (*Line, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("lifeline: %w", err)
	}
	return &Line{reader: reader, writer: writer}, nil
}

// Attach ties a command that has not been started to the line. It must be the last to set cmd.Env;
// a nil Env stands for the environment of this process.
func (l *Line) Attach(cmd *exec.Cmd) {
	descriptor := firstExtraFile + len(cmd.ExtraFiles)
	cmd.ExtraFiles = append(cmd.ExtraFiles, l.reader)
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, Environment+"="+strconv.Itoa(descriptor))
}

// Close ends the line: every child that follows it sees the end.
func (l *Line) Close() {
	_ = l.writer.Close()
	_ = l.reader.Close()
}

// Follow calls end, in a goroutine, as soon as the parent is gone. In a process without a lifeline it
// does nothing. It removes the variable, so that the process's own children don't take it for theirs.
func Follow(end func()) error {
	value, ok := os.LookupEnv(Environment)
	if !ok {
		return nil
	}
	_ = os.Unsetenv(Environment)
	descriptor, err := strconv.Atoi(value)
	if err != nil || descriptor < firstExtraFile {
		return fmt.Errorf("lifeline: %s=%q is not a file descriptor", Environment, value)
	}
	line := os.NewFile(uintptr(descriptor), "lifeline")
	go func() {
		// Nothing is ever written: the read returns when the last writer is gone.
		_, _ = io.Copy(io.Discard, line)
		end()
	}()
	return nil
}
