package daemon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
)

// model drives a Keeper of a few objects as an engine would, and checks after each step what must always hold.
type model struct {
	*world
	objects []*modelled

	mu sync.Mutex
	// open: daemons may be started.
	open bool
}

// modelled is an object with what its next pass is to do.
type modelled struct {
	ref     deploy.Ref
	uid     int
	wants   int  // a bit for each daemon
	stop    Stop // instead, if it isn't empty
	daemons [2]modelledDaemon
	// seen: the object wasn't forgotten since its last pass.
	seen bool
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{world: newWorld(t)}
	m.Keeper = New(m.tell)
	for i := range 3 {
		o := &modelled{ref: deploy.Ref{Kind: key.Kind, Name: fmt.Sprint(i)}, uid: 1}
		for id := range o.daemons {
			o.daemons[id] = modelledDaemon{commands: make(chan string, 1), told: map[What]int{}}
		}
		m.objects = append(m.objects, o)
	}
	return m
}

// begin lets the Keeper run, as an engine does that watches the kind.
func (m *model) begin() {
	m.mu.Lock()
	m.open = true
	m.mu.Unlock()
	m.run(10 * time.Second)
	m.passes()
}

// ends lets it end, by a cause or a loss of the leadership.
func (m *model) ends(cause error) {
	if began := time.Now(); cause == nil {
		close(m.lost)
		<-m.ended
		assert.LessOrEqual(m.t, time.Since(began), afterLoss)
		m.end(nil)
	} else {
		assert.LessOrEqual(m.t, m.stops(cause), 10*time.Second)
	}
	m.mu.Lock()
	m.open = false
	m.mu.Unlock()
	m.passes() // reconciles end later than the sources
}

// passes makes the passes that an engine would make.
func (m *model) passes() {
	for again := true; again; again = m.bringsOf() > 0 {
		for _, o := range m.objects {
			m.pass(o)
		}
		synctest.Wait()
	}
}

func (m *model) pass(o *modelled) {
	switch {
	case !o.seen:
		return
	case o.stop != "":
		m.Stop(o.ref, o.stop)
		return
	}
	var wanted []Spec[claim]
	for id := range o.daemons {
		if o.wants&(1<<id) != 0 {
			wanted = append(wanted, m.spec(o, id))
		}
	}
	m.Keep(o.ref, types.UID(fmt.Sprint(o.uid)), &claim{}, wanted)
}

// step does what a byte means.
func (m *model) step(what byte) {
	o := m.objects[what%3]
	d := &o.daemons[what/3%2]
	if what/6 < 6 { // what the passes of the object do from now on
		o.seen = true
	}
	switch what / 6 {
	case 0, 1:
		o.stop, o.wants = "", 3
	case 2:
		o.stop, o.wants = "", o.wants^(1<<(what/3%2))
	case 3:
		o.stop = Deleting
	case 4:
		o.stop = Paused
	case 5:
		o.stop, o.uid = "", o.uid+1
	case 6:
		m.forgets(o)
	case 7:
		time.Sleep(time.Duration(what%6) * time.Second)
	case 8:
		time.Sleep(time.Duration(what%6) * time.Minute)
	case 9, 10, 11:
		d.tell([]string{"return", "error", "panic"}[what/6-9])
	case 12:
		m.mu.Lock()
		d.hangs = !d.hangs
		m.mu.Unlock()
	case 13:
		m.ends([]error{nil, nil, context.Canceled, source.ErrReleased, leader.ErrLost, errNo}[what%6])
		m.begin()
	}
	m.passes()
	m.check()
}

// forgets is what an engine does when the object is gone.
func (m *model) forgets(o *modelled) {
	o.seen = false
	m.mu.Lock()
	for id := range o.daemons {
		o.daemons[id].doneFor = 0
	}
	m.mu.Unlock()
	m.Forget(o.ref)
}

// check compares the counts with what there is.
func (m *model) check() {
	synctest.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	alive, count := 0, m.Count()
	for _, o := range m.objects {
		for id := range o.daemons {
			d := &o.daemons[id]
			alive += d.alive
			ends := d.told[Ended] + d.told[Failed] + d.told[GivenUp] + d.told[Stopped] + d.told[Abandoned]
			late := d.told[Abandoned] - d.told[Returned]
			assert.Equal(m.t, d.alive, d.started-ends+late, "each run has one end")
			if wanted := o.seen && o.stop == "" && o.wants&(1<<id) != 0; d.alive > 0 && d.cause == nil {
				assert.True(m.t, wanted && d.uid == o.uid, "one that isn't wanted wasn't stopped")
			}
		}
	}
	assert.Equal(m.t, alive, count.Running+count.Stopping+count.Abandoned)
}

// play plays a sequence of steps.
func play(t *testing.T, steps []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t)
		m.begin()
		for _, what := range steps {
			if m.step(what % (14 * 6)); t.Failed() {
				break
			}
		}
		for _, o := range m.objects {
			m.forgets(o)
		}
		m.ends(context.Canceled)
		time.Sleep(time.Hour)
		m.check()
		assert.Zero(t, m.Count(), "all have returned")
		assert.Empty(t, m.Keeper.objects, "and nothing is kept")
	})
}

func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		steps := make([]byte, random.IntN(80))
		for i := range steps {
			steps[i] = byte(random.IntN(14 * 6))
		}
		if play(t, steps); t.Failed() {
			t.Fatalf("seed %d: %v", seed, steps)
		}
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte{0, 60, 72, 18, 40, 0, 78})
	f.Fuzz(func(t *testing.T, steps []byte) {
		play(t, steps[:min(len(steps), 100)])
	})
}
