package testlog

import (
	"strings"
	"sync"
)

// Text is what was written so far. It is safe for concurrent use. This is needed in a bubble of testing/synctest too:
// the bubble's clock orders the goroutines, but the race detector doesn't see that. The zero value is empty.
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

// String returns the text that was written since the last Reset.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// Count returns how often the given text was written.
func (t *Text) Count(text string) int { return strings.Count(t.String(), text) }

// Reset forgets what was written.
func (t *Text) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Reset()
}
