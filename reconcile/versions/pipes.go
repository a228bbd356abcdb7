package versions

import (
	"os"
	"os/exec"
	"time"
)

// pipes are the standard streams of a process, by files of this side's own: one that waits for them is woken by close and by expire, whoever
// else has them open.
type pipes struct {
	stdin, stdout, stderr *os.File
	theirs                []*os.File
}

// connect makes them those of a process that isn't started yet. What there is of them is to be closed also after an error.
func (p *pipes) connect(command *exec.Cmd) error {
	in, stdin, err := os.Pipe()
	if err != nil {
		return err
	}
	p.stdin, p.theirs = stdin, append(p.theirs, in)
	stdout, out, err := os.Pipe()
	if err != nil {
		return err
	}
	p.stdout, p.theirs = stdout, append(p.theirs, out)
	stderr, errs, err := os.Pipe()
	if err != nil {
		return err
	}
	p.stderr, p.theirs = stderr, append(p.theirs, errs)
	command.Stdin, command.Stdout, command.Stderr = in, out, errs
	return nil
}

// closeTheirs closes the ends that the process has got.
func (p *pipes) closeTheirs() {
	for _, file := range p.theirs {
		_ = file.Close()
	}
	p.theirs = nil
}

// expire ends reading, at the latest after a time.
func (p *pipes) expire(after time.Duration) {
	for _, file := range []*os.File{p.stdout, p.stderr} {
		_ = file.SetReadDeadline(time.Now().Add(after)) // a system without deadlines ends them with the process
	}
}

func (p *pipes) close() {
	for _, file := range []*os.File{p.stdin, p.stdout, p.stderr} {
		if file != nil {
			_ = file.Close()
		}
	}
}
