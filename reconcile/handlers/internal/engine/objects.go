package engine

import (
	"hash/maphash"
	"reflect"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/record"
	"k8s.io/apimachinery/pkg/types"
)

// object is what the process remembers of an object. Only the pass over the object uses it, except for what shared
// guards.
type object struct {
	uid types.UID
	// resumed: the handlers of a cause have ended, so that Resume handlers aren't called any more. resumes are those
	// that have ended before that; seen is false before the first pass.
	resumed, seen bool
	// listed: the object was there when the process started. It is known only if no record is stored.
	listed  bool
	resumes map[string]bool
	// version is the resourceVersion of the state for which nothing was left to do, empty for none; digest identifies
	// its essence, and text is the hash of the record on the object.
	version, digest string
	text            uint64
	// unwritten is what a pass couldn't write, nil for nothing.
	unwritten *unwritten
	// record is the record, if it isn't stored on the object, because that isn't wanted or because the cluster drops it.
	record *record.Record
	// loops counts the updates in a row in which handlers changed what is an update again.
	loops int
	// unreadable is the text of the last error that says why the type of the handlers can't hold the object.
	unreadable string
	// times are those of timers and crons, nil before the first pass and for a kind without them.
	times *times

	// reported are the errors of daemons, by id, that conditions report.
	reported map[string]string

	// shared guards memo and edits, which daemons use, too.
	shared sync.Mutex
	memo   map[reflect.Type]any
	// edits are those of handlers in the essence, for timers.
	edits edits
}

// objects are the objects of one kind. The zero value is empty. It is safe for concurrent use.
type objects struct {
	mu    sync.Mutex
	known map[deploy.Ref]*object
}

// of returns what is remembered of the object with a uid. An object with another uid is another object.
func (o *objects) of(ref deploy.Ref, uid types.UID) *object {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := o.known[ref]
	if found == nil || found.uid != uid {
		if o.known == nil {
			o.known = map[deploy.Ref]*object{}
		}
		found = &object{uid: uid}
		o.known[ref] = found
	}
	return found
}

func (o *objects) forget(ref deploy.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.known, ref)
}

// seed is the seed of hashes in this process.
var seed = maphash.MakeSeed()

// isSettled reports whether nothing is left to do for an object with the record text and that essence.
func (o *object) isSettled(text, digest string) bool {
	return o.resumed && o.digest != "" && o.digest == digest && o.text == maphash.String(seed, text)
}

// settle records that nothing is left to do for an object with the record text and that essence.
func (o *object) settle(text, digest string) {
	o.version, o.text, o.digest = "", maphash.String(seed, text), digest
}
