package wire

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/operkit/operkit/dag"
)

// mostServed is how many calls of the other side are worked on at once; more are answered by an error.
const mostServed = 10_000

// begin begins to serve a call.
func (p *Peer) begin(ctx context.Context, m message, serving *sync.WaitGroup) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.serving[m.id] != nil {
		return fmt.Errorf("call %d is begun before the one of the same number is answered", m.id)
	}
	if len(p.serving) >= mostServed {
		p.reply(m.id, nil, fmt.Errorf("%s: %d calls are under way: wait until some are answered", m.method, mostServed))
		return nil
	}
	ctx, end := context.WithCancel(ctx)
	p.serving[m.id] = end
	serving.Go(func() {
		defer end()
		p.serve(ctx, m)
	})
	return nil
}

// serve answers one call, however its handler ends.
func (p *Peer) serve(ctx context.Context, m message) {
	var value any
	var err error = &dag.GoexitError{}
	defer func() {
		if panicked := recover(); panicked != nil {
			value, err = nil, &dag.PanicError{Value: panicked, Stack: debug.Stack()}
		}
		p.mu.Lock()
		delete(p.serving, m.id)
		p.mu.Unlock()
		p.reply(m.id, value, err)
	}()
	value, err = p.handle(ctx, m.method, m.body)
}

// reply answers a call, unless the connection has ended: what was under way then was told to end, and that is no answer.
func (p *Peer) reply(id uint64, value any, err error) {
	select {
	case <-p.done:
		return
	default:
	}
	if err != nil {
		value = nil
	}
	frame, unsendable := newFrame(answer, id, "", NewProblem(err), value)
	if unsendable != nil {
		frame, unsendable = newFrame(answer, id, "", NewProblem(fmt.Errorf("its answer can't be sent: %w", unsendable)), nil)
	}
	if unsendable == nil {
		p.outbox.put(frame)
	}
}

// hear has a notice handled.
func (p *Peer) hear(ctx context.Context, m message) {
	defer func() { _ = recover() }() // nobody is to be told
	_, _ = p.handle(ctx, m.method, m.body)
}
