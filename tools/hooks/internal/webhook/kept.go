package webhook

import (
	"sync"
	"time"
)

// maxKept bounds the size of all kept responses, and maxTag that of an ETag, in bytes.
const (
	maxKept = 64 << 20
	maxTag  = 1 << 10
)

// kept has the last responses with an ETag. It is safe for concurrent use.
type kept struct {
	// lasts is how long a response is kept, zero for any time.
	lasts time.Duration

	mu   sync.Mutex
	all  map[string]response
	size int
}

// response is a response with its ETag.
type response struct {
	tag  string
	body []byte
	at   time.Time
}

func (k *kept) get(subject string) (response, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, ok := k.all[subject]
	if ok && k.lasts > 0 && time.Since(found.at) > k.lasts {
		k.remove(subject)
		return response{}, false
	}
	return found, ok
}

// put keeps a response. Others are dropped, in no order, if there are too many.
func (k *kept) put(subject, tag string, body []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove(subject)
	one := response{tag, body, time.Now()}
	if one.size(subject) > maxKept {
		return
	}
	for other := range k.all {
		if k.size+one.size(subject) <= maxKept {
			break
		}
		k.remove(other)
	}
	if k.all == nil {
		k.all = map[string]response{}
	}
	k.all[subject] = one
	k.size += one.size(subject)
}

func (k *kept) remove(subject string) {
	if found, ok := k.all[subject]; ok {
		k.size -= found.size(subject)
		delete(k.all, subject)
	}
}

// size is how much memory a response takes, about.
func (r response) size(subject string) int { return len(subject) + len(r.tag) + len(r.body) + 200 }
