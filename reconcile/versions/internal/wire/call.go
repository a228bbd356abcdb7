package wire

import (
	"context"
	"fmt"
)

// Call asks the other side and decodes what it answers into target, a pointer, or nil for no answer. An error of the other side is one
// that Problem makes; ErrGone says that there is none any more.
func (p *Peer) Call(ctx context.Context, method string, body, target any) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	answered := make(chan message, 1)
	p.mu.Lock()
	if p.gone != nil {
		defer p.mu.Unlock()
		return fmt.Errorf("%s: %w", method, p.gone)
	}
	p.last++
	id := p.last
	p.calls[id] = answered
	p.mu.Unlock()
	frame, err := newFrame(call, id, method, nil, body)
	if err != nil {
		p.forget(id)
		return fmt.Errorf("%s: %w", method, err)
	}
	p.outbox.put(frame)
	select {
	case m := <-answered:
		return m.into(method, target)
	case <-ctx.Done():
		p.forget(id)
		if frame, err := newFrame(cancel, id, "", nil, nil); err == nil {
			p.outbox.put(frame)
		}
		return context.Cause(ctx)
	case <-p.done:
		p.forget(id)
		return fmt.Errorf("%s: %w", method, p.gone)
	}
}

// into decodes an answer.
func (m message) into(method string, target any) error {
	if m.problem != nil {
		return m.problem.Err()
	}
	if target == nil {
		return nil
	}
	if err := Decode(m.body, target); err != nil {
		return fmt.Errorf("%s: its answer: %w", method, err)
	}
	return nil
}

// forget takes away whoever waits for an answer.
func (p *Peer) forget(id uint64) (waiting chan message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting = p.calls[id]
	delete(p.calls, id)
	return waiting
}

// Notify tells the other side something that nobody answers. It doesn't wait until that is written.
func (p *Peer) Notify(method string, body any) error {
	frame, err := newFrame(notice, 0, method, nil, body)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	p.outbox.put(frame)
	return nil
}

// Room waits until the other side has read so much that more may be said. It is for those who say much that nobody answers.
func (p *Peer) Room() { p.outbox.room() }
