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

// verdicts are those that still hold. Those of who may aren't crowded out by those of who may not, whose number is in anybody's hands. The
// zero value is ready for use; it is safe for concurrent use.
type verdicts struct {
	mu          sync.Mutex
	may, mayNot map[[sha256.Size]byte]held
}

type held struct {
	verdict
	until time.Time
}

func (v *verdicts) get(key [sha256.Size]byte) (verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, known := range []map[[sha256.Size]byte]held{v.may, v.mayNot} {
		if found, ok := known[key]; ok && time.Now().Before(found.until) {
			return found.verdict, true
		}
	}
	return verdict{}, false
}

func (v *verdicts) put(key [sha256.Size]byte, found verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if found.may {
		v.may = with(v.may, key, held{found, time.Now().Add(mayFor)})
		return
	}
	delete(v.may, key)
	v.mayNot = with(v.mayNot, key, held{found, time.Now().Add(mayNotFor)})
}

// with is known with one more, and without old ones if it is full.
func with(known map[[sha256.Size]byte]held, key [sha256.Size]byte, one held) map[[sha256.Size]byte]held {
	if len(known) >= mostVerdicts {
		for other, held := range known {
			if time.Now().After(held.until) {
				delete(known, other)
			}
		}
	}
	if known == nil || len(known) >= mostVerdicts {
		known = map[[sha256.Size]byte]held{}
	}
	known[key] = one
	return known
}
