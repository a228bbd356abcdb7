package mortal

import (
	"errors"
	"sync"
)

// ErrKilled is the error of the writes of a killed process.
var ErrKilled = errors.New("the process was killed")

// Process is a process that can be killed at one of its writes. The zero value lives on. It is safe for concurrent use.
type Process struct {
	mu     sync.Mutex
	writes int
	// at is the number of the write at which it is killed, 0 for none.
	at    int
	after bool
	dead  bool
}

// Kill kills the process at its nth write from now on, 1 for the next one: before the write, or after it.
func (p *Process) Kill(nth int, after bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.after = p.writes+nth, after
}

// Dead reports whether the process was killed.
func (p *Process) Dead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// Writes returns the number of writes, including the last one of a killed process.
func (p *Process) Writes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.writes
}

// Send calls write, unless the process is dead or is killed before that. It returns the error of write, or ErrKilled if
// the process is killed.
func (p *Process) Send(write func() error) error {
	arrives, killed := p.count()
	var err error
	if arrives {
		err = write()
	}
	if killed {
		return ErrKilled
	}
	return err
}

func (p *Process) count() (arrives, killed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return false, true
	}
	p.writes++
	p.dead = p.writes == p.at
	return !p.dead || p.after, p.dead
}
