package mailbox

import "sync"

// Mailbox is a queue. It is unbounded, so a slow reader doesn't block Put. It is safe for concurrent use, but only one
// goroutine at a time may wait for Filled.
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

// Filled returns a channel that has a value if an item was put in since the last receive from the channel.
func (m *Mailbox[T]) Filled() <-chan struct{} { return m.filled }

// Take removes all items and returns them, in the order in which they were put in. It returns nil if there are none.
func (m *Mailbox[T]) Take() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.waiting
	m.waiting = nil
	return taken
}

// Len returns the number of items.
func (m *Mailbox[T]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}
