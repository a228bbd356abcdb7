package process

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// Spawner starts commands that the kernel signals when this process dies (on Linux). Make one with
// NewSpawner; its methods may be called concurrently.
type Spawner struct {
	requests chan request
	closed   chan struct{}
	once     sync.Once
	done     chan struct{}
}

type request struct {
	cmd    *exec.Cmd
	answer chan error
}

// NewSpawner starts the thread that commands are started from. Close ends it.
func NewSpawner() *Spawner {
	s := &Spawner{requests: make(chan request), closed: make(chan struct{}), done: make(chan struct{})}
	go s.run()
	return s
}

func (s *Spawner) run() {
	defer close(s.done)
	runtime.LockOSThread()
	// Unlock at the end: if a goroutine ends while locked, its thread ends, too, and the kernel then signals every
	// child that still runs.
	defer runtime.UnlockOSThread()
	for {
		select {
		case r := <-s.requests:
			r.answer <- r.cmd.Start()
		case <-s.closed:
			return
		}
	}
}

// Start starts cmd so that the child receives signal when this process dies. It sets cmd.SysProcAttr.Pdeathsig on
// Linux, and doesn't change other attributes.
func (s *Spawner) Start(cmd *exec.Cmd, signal syscall.Signal) error {
	setParentDeathSignal(cmd, signal)
	r := request{cmd: cmd, answer: make(chan error, 1)}
	select {
	case s.requests <- r:
		return <-r.answer
	case <-s.closed:
		return errors.New("spawner is closed")
	}
}

// Close ends the spawner. Children that still run are not signalled.
func (s *Spawner) Close() {
	s.once.Do(func() { close(s.closed) })
	<-s.done
}
