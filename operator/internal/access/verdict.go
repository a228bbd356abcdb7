package access

import (
	"crypto/sha256"
	"sync"
	"time"
)

// How long answers hold, and how many do at once.
const (
	mayFor, mayNotFor = time.Minute, 10 * time.Second
	mostVerdicts      = 1000
)

// verdict is what the API server said: who it is, empty for nobody, and whether they may.
type verdict struct {
	user string
	may  bool
}

// verdicts are those that still hold. The zero value is ready for use; it is safe for concurrent use.
type verdicts struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]held
}

type held struct {
	verdict
	until time.Time
}

func (v *verdicts) get(key [sha256.Size]byte) (verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	found, ok := v.known[key]
	return found.verdict, ok && time.Now().Before(found.until)
}

func (v *verdicts) put(key [sha256.Size]byte, found verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	if len(v.known) >= mostVerdicts {
		for other, held := range v.known {
			if now.After(held.until) {
				delete(v.known, other)
			}
		}
	}
	if v.known == nil || len(v.known) >= mostVerdicts {
		v.known = map[[sha256.Size]byte]held{}
	}
	holds := mayNotFor
	if found.may {
		holds = mayFor
	}
	v.known[key] = held{found, now.Add(holds)}
}
