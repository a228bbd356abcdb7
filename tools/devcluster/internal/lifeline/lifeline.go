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

// Signal is the parent death signal of a child that follows a lifeline. Linux sends it more than once
// when a parent with threads is killed, which is why it is not SIGTERM: servers take a second SIGTERM
// as an order to drop everything. A child that does not follow yet dies of it.
const Signal = syscall.SIGUSR2

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

// Follow calls end once, in a goroutine, as soon as the parent is gone: at the end of the line or at
// Signal, whichever comes first. In a process without a lifeline it does nothing. It removes the
// variable, so that the process's own children don't take it for theirs.
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
		// Nothing is ever written: the read returns when the last writer is gone.
		_, _ = io.Copy(io.Discard, line)
		once()
	}()
	return nil
}
