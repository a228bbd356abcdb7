package interposer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy/bystander"
)

// trap is the moment in a process's life at which it is caught.
type trap struct {
	Write
	// answered: the API server has done it, but the process doesn't learn of that. Otherwise the write never arrives.
	answered bool
	caught   chan error    // gets one value: why it isn't what it should be, or nil
	released chan struct{} // closed by Release
}

// Catch catches a write that is made from now on: after the API server has carried it out if arrives is true, otherwise
// before that. begin is called first. Catch returns false if over returns true, and one second has passed since without
// the write. If neither happens, the test fails.
func (i *Interposer) Catch(at Write, arrives bool, begin func(), over func() bool) bool {
	i.t.Helper()
	caught := i.arm(at, arrives)
	begin()
	isOver := false
	for deadline := time.Now().Add(bystander.Patience); ; {
		select {
		case err := <-caught:
			if err != nil {
				i.t.Fatalf("interposer: the API server refuses %s: %v", at.Request, err)
			}
			return true
		case <-time.After(10 * time.Millisecond):
		}
		switch {
		case isOver && time.Now().After(deadline):
			return false
		case time.Now().After(deadline):
			i.t.Fatalf("not within %s: the operator neither ends its work nor comes to %s, no. %d", bystander.Patience, at.Request, at.Nth)
		case !isOver && over():
			isOver, deadline = true, time.Now().Add(time.Second)
		}
	}
}

// arm catches a write that is made from now on; the channel gets a value then.
func (i *Interposer) arm(at Write, answered bool) <-chan error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.writes, i.sprung = nil, false
	i.armed = &trap{Write: at, answered: answered, caught: make(chan error, 1), released: make(chan struct{})}
	return i.armed.caught
}

// take counts a write. The trap is nil for one that may pass.
func (i *Interposer) take(request string) (armed *trap, hit bool) {
	this := Write{request, 1}
	i.mu.Lock()
	defer i.mu.Unlock()
	for slices.Contains(i.writes, this) {
		this.Nth++
	}
	i.writes = append(i.writes, this)
	switch {
	case i.armed == nil || !i.sprung && i.armed.Write != this:
		return nil, false
	case i.sprung:
		return i.armed, false
	}
	i.sprung = true
	return i.armed, true
}

// pass has the API server do what is asked if it is to be done.
func (armed *trap) pass(next http.RoundTripper, request *http.Request) error {
	if !armed.answered {
		return nil
	}
	answer, err := next.RoundTrip(request.WithContext(context.WithoutCancel(request.Context())))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	// A conflict is a write like others: the process would make it again.
	if answer.StatusCode >= http.StatusBadRequest && answer.StatusCode != http.StatusConflict {
		err = errors.Join(err, errors.New(answer.Status+": "+string(body)))
	}
	return errors.Join(err, answer.Body.Close())
}
