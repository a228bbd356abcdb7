package process

import "sync"

// kept is how much of an output a Tail keeps, in bytes.
const kept = 4 << 10

// Tail keeps the end of what is written. The zero value is empty. It is safe for concurrent use.
type Tail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (t *Tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text[max(0, len(text)-kept):]...)
	if over := len(t.text) - kept; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(text), nil
}

// String returns the end of what was written.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
