package mailbox

import "sync"

// Mailbox keeps what is put into it, in that order, until it is taken. It has no bound, so that nobody who puts
// something in is held up by a slow reader. It is safe for concurrent use; one goroutine at a time may wait for Filled.
type Mailbox[T any] struct {
	filled chan struct{}

	mu      sync.Mutex
	waiting []T
}

// New returns an empty Mailbox.
func New[T any]() *Mailbox[T] { return &Mailbox[T]{filled: make(chan struct{}, 1)} }

// Put adds an item.
func (m *Mailbox[T]) Put(item T) {
	m.mu.Lock()
	m.waiting = append(m.waiting, item)
	m.mu.Unlock()
	select {
	case m.filled <- struct{}{}:
	default:
	}
}

// Filled has a value when something has been put in since the last one was received.
func (m *Mailbox[T]) Filled() <-chan struct{} { return m.filled }

// Take removes all that waits and returns it; nil if nothing does.
func (m *Mailbox[T]) Take() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.waiting
	m.waiting = nil
	return taken
}

// Len is how many items wait.
func (m *Mailbox[T]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}
