package reconcile

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shelf has the same files for all.
type shelf struct {
	files fs.FS
	err   error
}

func (s shelf) Open(context.Context, *Session) (fs.FS, func(), error) { return s.files, nil, s.err }

// library has a folder for each version, and counts who has it open.
type library struct {
	versions map[string]fs.FS
	opened   atomic.Int64

	mu   sync.Mutex
	open map[string]int
}

func newLibrary(versions ...string) *library {
	l := &library{versions: map[string]fs.FS{}, open: map[string]int{}}
	for _, version := range versions {
		l.versions[version] = fstest.MapFS{"release": {Data: []byte(version)}}
	}
	return l
}

func (l *library) Open(_ context.Context, s *Session) (fs.FS, func(), error) {
	files, ok := l.versions[s.Version()]
	if !ok {
		return nil, nil, request.Configuration("there is no version %q", s.Version())
	}
	l.opened.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[s.Version()]++
	return files, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.open[s.Version()]--
	}, nil
}

func (l *library) used() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	total := 0
	for _, users := range l.open {
		total += users
	}
	return total
}

// reading is a controller that renders what its version's files say.
func reading() *controller {
	return &controller{func(_ context.Context, s *Session) error {
		text, err := fs.ReadFile(s.Assets(), "release")
		if err != nil {
			return err
		}
		obj := configMap("a")
		obj.Object["data"] = map[string]any{"release": string(text)}
		s.Add("c", obj)
		return nil
	}}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	t.Run("a session has the files of its version, until it ends", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		l := newLibrary("1", "2")
		r := w.reconciler(reading(), WithAssets(l))
		w.calm(r)
		assert.Equal(t, "1", w.get(configMapRef("a")).Object["data"].(map[string]any)["release"])
		w.want("2")
		w.calm(r)
		assert.Equal(t, "2", w.get(configMapRef("a")).Object["data"].(map[string]any)["release"])
		assert.EqualValues(t, 2, l.opened.Load())
		assert.Zero(t, l.used())
		_, err := r.Plan(t.Context(), w.widget())
		require.NoError(t, err)
		_, err = r.Graph(t.Context(), w.widget())
		require.NoError(t, err)
		assert.EqualValues(t, 4, l.opened.Load(), "Plan and Graph have them, too")
		assert.Zero(t, l.used())
	})
	t.Run("they are open while it works, and closed however it ends", func(t *testing.T) {
		t.Parallel()
		for reason, end := range map[string]func() error{
			"well": func() error { return nil }, "with an error": func() error { return errors.New("no") }, "with a panic": func() error { panic("no") },
		} {
			w := newWorldWith(t, wanting("1"))
			l := newLibrary("1")
			_, _, _ = w.once(w.reconciler(&controller{func(context.Context, *Session) error {
				assert.Equal(t, 1, l.used(), reason)
				return end()
			}}, WithAssets(l)))
			assert.EqualValues(t, 1, l.opened.Load(), reason)
			assert.Zero(t, l.used(), reason)
		}
	})
	t.Run("there may be none", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		for _, options := range [][]Option{nil, {WithAssets(shelf{})}} {
			w.calm(w.reconciler(adding(func(s *Session) { assert.Nil(t, s.Assets()) }), options...))
		}
	})
	for reason, row := range map[string]struct {
		assets  Assets
		want    string
		verdict string
	}{
		"a version that there isn't": {newLibrary("2"), `version 1: there is no version "1"`, "ConfigError/Errored"},
		"files that can't be had":    {shelf{err: errors.New("the disk is full")}, "version 1: the disk is full", "Errored/Errored"},
		"a panic":                    {burning{}, "version 1: panic: no (assets_test.go)", "Errored/Errored"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, wanting("1"))
			_, _, err := w.once(w.reconciler(adding(func(*Session) { assert.Fail(t, "Setup is called") }), WithAssets(row.assets)))
			require.Error(t, err)
			require.Equal(t, row.want, testlog.WithoutLines(err.Error()))
			assert.Equal(t, row.verdict, w.verdict())
		})
	}
	t.Run("files that are to come are waited for", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		w.calm(w.reconciler(&controller{}, WithAssets(shelf{err: request.Precondition("it is being checked out")})))
		assert.Equal(t, "Initializing/PreconditionWait", w.verdict())
	})
	t.Run("a release that panics is told, and harms nobody", func(t *testing.T) {
		t.Parallel()
		w := newWorldWith(t, wanting("1"))
		w.calm(w.reconciler(adding(func(*Session) {}), WithAssets(burning{late: true})))
		assert.Equal(t, 1, w.logs.Count("panic in a function of Cleanup"))
	})
}

// burning are Assets that panic.
type burning struct{ late bool }

func (p burning) Open(context.Context, *Session) (fs.FS, func(), error) {
	if !p.late {
		panic("no")
	}
	return fstest.MapFS{}, func() { panic("no") }, nil
}

// A version that isn't there any more doesn't hold a deletion up: who needs its files is told why there are none.
func TestAssetsOfWhatIsFinalized(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		assets Assets
		wrong  string
	}{
		"the version is there":           {newLibrary("1"), ""},
		"the version is gone":            {newLibrary("2"), `open release: there is no version "1"`},
		"its files can't be had":         {shelf{err: errors.New("the disk is full")}, "open release: the disk is full"},
		"whoever has the files is panic": {burning{}, "open release: panic: no (assets_test.go)"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, wanting("1"))
			var read error
			finalized := 0
			c := &finalizing{finalize: func(_ context.Context, s *Session) error {
				finalized++
				_, read = fs.ReadFile(s.Assets(), "release")
				return nil
			}}
			w.calm(w.reconciler(c))
			w.delete(widgetRef)
			w.calm(w.reconciler(c, WithAssets(row.assets)))
			assert.Equal(t, 1, finalized)
			assert.Nil(t, w.get(widgetRef))
			if row.wrong == "" {
				require.NoError(t, read)
				return
			}
			require.Error(t, read)
			require.Equal(t, row.wrong, testlog.WithoutLines(read.Error()))
			assert.Equal(t, 1, w.logs.Count("finalizing without the files of the version"))
		})
	}
}

// Sessions of several versions are open at once, and none sees another one's files.
func TestAssetsOfSeveralVersionsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := newLibrary("1", "2", "3")
	var meeting, all sync.WaitGroup
	meeting.Add(3)
	r := w.reconciler(&controller{func(_ context.Context, s *Session) error {
		meeting.Done()
		meeting.Wait()
		text, err := fs.ReadFile(s.Assets(), "release")
		assert.Equal(t, "w"+string(text), s.Name())
		return err
	}}, WithAssets(l))
	for _, version := range []string{"1", "2", "3"} {
		resource := wanting(version)
		resource.SetName("w" + version)
		resource.SetUID("")
		resource.SetGeneration(0)
		_, err := w.memory.Port().Create(t.Context(), resource, deploy.CreateOptions{FieldManager: "somebody"})
		require.NoError(t, err)
		all.Go(func() {
			_, err := r.Reconcile(t.Context(), request.Request{Key: deploy.Ref{Kind: widgets, Namespace: "shop", Name: "w" + version}})
			assert.NoError(t, err)
		})
	}
	all.Wait()
	assert.EqualValues(t, 3, l.opened.Load())
	assert.Zero(t, l.used())
}
