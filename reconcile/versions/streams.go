package versions

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// pipes are the manager's ends of the standard streams of a process. close ends blocked reads and writes, and expire
// ends blocked reads, even if other processes hold the streams open.
type pipes struct {
	stdin, stdout, stderr *os.File
	theirs                []*os.File
}

// connect makes the pipes the standard streams of a process that isn't started yet. The pipes must be closed even after
// an error.
func (p *pipes) connect(command *exec.Cmd) error {
	var in, out, errs *os.File
	var failed [3]error
	in, p.stdin, failed[0] = os.Pipe()
	p.stdout, out, failed[1] = os.Pipe()
	p.stderr, errs, failed[2] = os.Pipe()
	p.theirs = []*os.File{in, out, errs}
	command.Stdin, command.Stdout, command.Stderr = in, out, errs
	return errors.Join(failed[:]...)
}

// closeTheirs closes the process's ends.
func (p *pipes) closeTheirs() {
	for _, file := range p.theirs {
		_ = file.Close()
	}
	p.theirs = nil
}

// expire ends all reads when the given time has passed, or earlier.
func (p *pipes) expire(after time.Duration) {
	for _, file := range []*os.File{p.stdout, p.stderr} {
		_ = file.SetReadDeadline(time.Now().Add(after)) // if deadlines aren't supported, reads end with the process
	}
}

func (p *pipes) close() {
	for _, file := range []*os.File{p.stdin, p.stdout, p.stderr} {
		_ = file.Close() // a nil file, too
	}
}

// longestLine bounds a line of the standard error; the rest is dropped.
const longestLine = 4 << 10

// log logs the lines that the process writes to its standard error.
func (proc *process) log(stderr io.Reader) {
	logger := proc.pool.options.Logger.With("version", proc.version.name, "stream", "stderr")
	in := bufio.NewReaderSize(stderr, longestLine)
	for cut := false; ; {
		line, more, err := in.ReadLine()
		if len(line) > 0 && !cut {
			text := strings.ToValidUTF8(string(line), "\ufffd")
			proc.last.add(text)
			logger.Info(text)
		}
		if cut = more; err != nil {
			return
		}
	}
}

// lastLines are the last lines of a text.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *lastLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const kept = 5
	if l.lines = append(l.lines, line); len(l.lines) > kept {
		l.lines = l.lines[1:]
	}
}

func (l *lastLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "; ")
}
