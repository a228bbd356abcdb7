package testlog

import (
	"strings"
	"sync"
)

// Text is what was written so far. It is safe for concurrent use, which is needed in a bubble of testing/synctest, too:
// its clock orders what goroutines do, but the race detector doesn't know. The zero value is empty.
type Text struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write keeps p. It never fails.
func (t *Text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// String is all that was written since the last Reset.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// Count is how often it has a text.
func (t *Text) Count(text string) int { return strings.Count(t.String(), text) }

// Reset forgets what was written.
func (t *Text) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Reset()
}
