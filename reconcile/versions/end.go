package versions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// lastWords is how long what an ended process has written is read, if another one holds its streams open.
const lastWords = time.Second

// run hears the process until it has ended.
func (l *life) run() {
	defer close(l.over)
	var others sync.WaitGroup
	others.Go(func() { l.log(l.pipes.stderr) })
	others.Go(l.end)
	var exit error
	others.Go(func() {
		exit = l.process.Wait()
		kill(l.process) // what it has started ends with it
		l.pipes.expire(lastWords)
		close(l.exited)
	})
	// What it asks is answered until it ends, also when the pool does: it would take another answer for one about the resource.
	heard := l.peer.Run(context.WithoutCancel(l.pool.ctx))
	if !isEnd(heard) {
		l.kill() // what can't be understood is of no use
	}
	others.Wait()
	l.pipes.close()
	if l.err = endOf(heard, exit); l.last.text() != "" {
		l.err = fmt.Errorf("%w: %s", l.err, l.last.text())
	}
	close(l.ended)
	<-l.known
	l.version.ended(l)
}

// end sees to it that the process ends when nothing can be said to it, or heard of it, any more.
func (l *life) end() {
	<-l.peer.Done()
	_ = l.pipes.stdin.Close() // by which it knows
	timer := time.NewTimer(l.pool.options.StopTimeout)
	defer timer.Stop()
	select {
	case <-l.exited:
	case <-timer.C:
		l.kill()
	}
}

// stop tells the process to end, kills it when it doesn't in time, and returns when it has.
func (l *life) stop() {
	l.stopped.Store(true)
	_ = l.pipes.stdin.Close()
	timer := time.NewTimer(l.pool.options.StopTimeout)
	defer timer.Stop()
	select {
	case <-l.exited:
	case <-timer.C:
		l.kill()
	}
	<-l.over
}

// kill kills the process if it hasn't ended, with all that it has started.
func (l *life) kill() {
	if !isClosed(l.exited) {
		kill(l.process)
	}
}

// isEnd tells whether a stream has come to its end, whatever was said up to then.
func isEnd(heard error) bool {
	return errors.Is(heard, io.EOF) || errors.Is(heard, io.ErrUnexpectedEOF) || errors.Is(heard, os.ErrDeadlineExceeded)
}

// endOf says how a process has ended.
func endOf(heard, exit error) error {
	switch {
	case !isEnd(heard):
		return fmt.Errorf("what its process writes to its standard output can't be understood: %w", heard)
	case exit != nil:
		// As text: the exit code that an *exec.ExitError has isn't to become that of the program which has asked.
		return errors.New("its process has ended: " + exit.Error())
	}
	return errors.New("its process has ended")
}
