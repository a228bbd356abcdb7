package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// ErrGone says that the other side has ended, or that what it says can't be understood any more.
var ErrGone = errors.New("the other side is gone")

// Handler answers what the other side calls. The answer is encoded; for a notice it isn't looked at. It is called from a goroutine of
// its own for each call, and one after the other for notices, which must not wait: nothing is read meanwhile. A panic is an error.
type Handler func(ctx context.Context, method string, body Raw) (answer any, err error)

// Peer is one side of a connection. It is safe for concurrent use.
type Peer struct {
	in     io.Reader
	out    io.Writer
	outbox *outbox
	handle Handler

	mu sync.Mutex
	// calls are those of this side that wait for an answer, by number; serving ends those of the other side.
	calls   map[uint64]chan message
	serving map[uint64]context.CancelFunc
	last    uint64
	// gone is why nothing can be said or heard any more; then done is closed.
	gone error
	done chan struct{}
}

// NewPeer makes one side of a connection, whose calls handle answers. Nothing is read or written before Run.
func NewPeer(in io.Reader, out io.Writer, handle Handler) *Peer {
	return &Peer{
		in: bufio.NewReaderSize(in, 64<<10), out: out, outbox: newOutbox(), handle: handle,
		calls: map[uint64]chan message{}, serving: map[uint64]context.CancelFunc{}, done: make(chan struct{}),
	}
}

// Run reads what the other side says until that ends, or can't be understood. What is served then is told to end and not answered any more;
// Run returns once it has ended, and all that was said before is written. The end of the stream between two messages is io.EOF. ctx is that of
// what is served. To end it before, close the streams.
func (p *Peer) Run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	var writing, serving sync.WaitGroup
	writing.Go(func() {
		if err := p.outbox.write(p.out); err != nil {
			p.outbox.close()
			p.end(err)
		}
	})
	err := p.read(ctx, &serving)
	p.end(err)
	end()
	serving.Wait()
	p.outbox.close()
	writing.Wait()
	return err
}

// Done is closed when the other side is gone.
func (p *Peer) Done() <-chan struct{} { return p.done }

// end has all who wait for the other side know that it is gone.
func (p *Peer) end(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil {
		p.gone = fmt.Errorf("%w: %w", ErrGone, why)
		close(p.done)
	}
}

func (p *Peer) read(ctx context.Context, serving *sync.WaitGroup) error {
	for {
		m, err := readFrame(p.in)
		if err != nil {
			return err
		}
		switch m.kind {
		case call:
			if err := p.begin(ctx, m, serving); err != nil {
				return err
			}
		case answer:
			if waiting := p.forget(m.id); waiting != nil { // else nobody wants to know any more
				waiting <- m
			}
		case notice:
			p.hear(ctx, m)
		case cancel:
			p.mu.Lock()
			end := p.serving[m.id]
			p.mu.Unlock()
			if end != nil {
				end()
			}
		default:
			return fmt.Errorf("a message of the unknown kind %d", m.kind)
		}
	}
}
