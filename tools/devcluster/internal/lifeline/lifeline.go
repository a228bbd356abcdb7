package lifeline

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
)

// Environment names the variable that tells a child which file descriptor is its lifeline.
const Environment = "OPERKIT_DEVCLUSTER_LIFELINE"

// Signal is the parent death signal of a child that follows a lifeline. If a parent with threads is killed, Linux sends
// it more than once. It isn't SIGTERM, since servers exit at once after a second SIGTERM. A child that hasn't called
// Follow yet is killed by it.
const Signal = syscall.SIGUSR2

// firstExtraFile is the descriptor of the first of exec.Cmd.ExtraFiles in the child.
const firstExtraFile = 3

// Line is the parent's end of the pipe. It may be attached to any number of children.
type Line struct {
	reader, writer *os.File
}

// New creates a lifeline.
func New() (*Line, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("lifeline: %w", err)
	}
	return &Line{reader: reader, writer: writer}, nil
}

// Attach attaches a command that hasn't been started yet to the line. It adds a variable to cmd.Env, so don't set Env
// afterwards; a nil Env stands for the environment of this process.
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

// Follow calls end once, in a goroutine, as soon as the parent is gone: at the end of the line or at Signal, whichever
// comes first. In a process without a lifeline it does nothing. It unsets the environment variable, so that the
// process's own children don't use it.
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
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, Signal)
	once := sync.OnceFunc(end)
	go func() {
		<-signals
		once()
	}()
	go func() {
		// Nothing is ever written to the line: Copy returns when the last writer is gone.
		_, _ = io.Copy(io.Discard, line)
		once()
	}()
	return nil
}
