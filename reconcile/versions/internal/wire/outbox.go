package wire

import (
	"bytes"
	"io"
	"sync"
)

// crowded is how many bytes wait to be written when whoever may wait does.
const crowded = 1 << 20

// outbox holds frames until they are written, in their order, so that nobody who has something to say waits for another side that doesn't read.
type outbox struct {
	mu      sync.Mutex
	changed sync.Cond
	frames  []*bytes.Buffer
	// bytes is how long they are together, those included that are being written.
	bytes  int
	closed bool
}

func newOutbox() *outbox {
	o := &outbox{}
	o.changed.L = &o.mu
	return o
}

// put adds a frame. After close it is lost.
func (o *outbox) put(frame *bytes.Buffer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.frames = append(o.frames, frame)
	o.bytes += frame.Len()
	o.changed.Broadcast()
}

// room waits until not too much waits to be written.
func (o *outbox) room() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > crowded && !o.closed {
		o.changed.Wait()
	}
}

// close has nothing more be added.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}

// write writes all frames until close is called and all are written, or one can't be.
func (o *outbox) write(out io.Writer) error {
	var done []*bytes.Buffer
	for {
		frames := o.take(done)
		if len(frames) == 0 {
			return nil
		}
		for _, frame := range frames {
			length := frame.Len()
			if _, err := out.Write(frame.Bytes()); err != nil {
				return err
			}
			recycle(frame)
			o.written(length)
		}
		clear(frames)
		done = frames[:0]
	}
}

// take takes the frames that wait, and leaves room for others.
func (o *outbox) take(room []*bytes.Buffer) []*bytes.Buffer {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.frames) == 0 && !o.closed {
		o.changed.Wait()
	}
	frames := o.frames
	o.frames = room
	return frames
}

func (o *outbox) written(length int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.bytes
	if o.bytes -= length; before > crowded && o.bytes <= crowded {
		o.changed.Broadcast()
	}
}
