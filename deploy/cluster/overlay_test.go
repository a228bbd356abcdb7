package cluster

import (
	"bytes"
	"log/slog"
	"maps"
	"strconv"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	settingsKind = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	settingsRef  = deploy.Ref{Kind: settingsKind, Namespace: "shop", Name: "settings"}
)

func state(uid string, version int) *unstructured.Unstructured {
	return named("settings", uid, version)
}

func named(name, uid string, version int) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(settingsKind)
	obj.SetNamespace("shop")
	obj.SetName(name)
	obj.SetUID(types.UID(uid))
	obj.SetResourceVersion(strconv.Itoa(version))
	return obj
}

func terminating(uid string, version int, finalizers ...string) *unstructured.Unstructured {
	obj := state(uid, version)
	obj.SetFinalizers(finalizers)
	obj.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2030-01-01T00:00:00Z"
	return obj
}

// world is an overlay over a cache, with a clock.
type world struct {
	*overlay
	log  bytes.Buffer
	time time.Time
	// cache is what the informer shows, version how far it has come if it can say, listed when
	// it began to list.
	cache   *unstructured.Unstructured
	version string
	listed  time.Time
	from    source
}

func newWorld(cached *unstructured.Unstructured) *world {
	w := &world{time: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), cache: cached}
	w.overlay = newOverlay(slog.New(slog.NewTextHandler(&w.log, nil)), func(ref deploy.Ref) shown {
		if ref != settingsRef {
			return shown{}
		}
		return shown{w.cache, w.version, w.listed, true}
	})
	w.now = func() time.Time { return w.time }
	return w
}

// read is what a reader sees, as uid and version.
func (w *world) read() string {
	obj, from := w.get(settingsRef)
	w.from = from
	if from == fromNeither && obj == nil {
		return "unread"
	}
	if obj == nil {
		return "nothing"
	}
	return string(obj.GetUID()) + "@" + obj.GetResourceVersion()
}

// shows is what the informer does: first the cache, then the event.
func (w *world) shows(obj *unstructured.Unstructured) {
	event := deploy.Event{Type: deploy.Added, New: obj}
	if w.cache != nil {
		event = deploy.Event{Type: deploy.Modified, Old: w.cache, New: obj}
	}
	w.cache = obj
	w.observe(settingsKind, event)
}

func (w *world) showsGone() {
	last := w.cache
	w.cache = nil
	w.observe(settingsKind, deploy.Event{Type: deploy.Deleted, Old: last, New: last})
}

// writes plays a write: the answer is known when during has happened.
func (w *world) writes(answer *unstructured.Unstructured, during ...func()) {
	end := w.begin(settingsRef)
	defer end()
	for _, f := range during {
		f()
	}
	w.wrote(settingsRef, answer)
}

// writesUnread plays a write whose answer doesn't show the object.
func (w *world) writesUnread(answer *unstructured.Unstructured) {
	w.wroteUnread(settingsRef, answer)
}

// comesTo is what the informer does when others' events or bookmarks come.
func (w *world) comesTo(version string) { w.version = version }

// relists is a list of all objects, begun now.
func (w *world) relists(obj *unstructured.Unstructured) {
	w.time = w.time.Add(time.Second)
	w.cache, w.listed = obj, w.time
}

func (w *world) deletes(uid string, during ...func()) {
	end := w.begin(settingsRef)
	defer end()
	for _, f := range during {
		f()
	}
	w.deleted(settingsRef, types.UID(uid))
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cached *unstructured.Unstructured
		play   func(w *world)
		want   string
		// kept is how many entries remain afterwards.
		kept int
	}{
		"nothing written":                                         {state("a", 1), func(*world) {}, "a@1", 0},
		"an own write is seen":                                    {state("a", 1), func(w *world) { w.writes(state("a", 2)) }, "a@2", 1},
		"a creation is seen":                                      {nil, func(w *world) { w.writes(state("a", 2)) }, "a@2", 1},
		"it ends with the same version":                           {state("a", 1), func(w *world) { w.writes(state("a", 2)); w.shows(state("a", 2)) }, "a@2", 0},
		"it ends with a newer version":                            {state("a", 1), func(w *world) { w.writes(state("a", 2)); w.shows(state("a", 3)) }, "a@3", 0},
		"an older version doesn't end it":                         {nil, func(w *world) { w.writes(state("a", 3)); w.shows(state("a", 2)) }, "a@3", 1},
		"it ends when the cache is read":                          {state("a", 1), func(w *world) { w.writes(state("a", 2)); w.cache = state("a", 2); w.read() }, "a@2", 0},
		"versions are numbers":                                    {state("a", 9), func(w *world) { w.writes(state("a", 10)) }, "a@10", 1},
		"an apply that changed nothing leaves no entry":           {state("a", 2), func(w *world) { w.writes(state("a", 2)); assert.Empty(t, w.entries) }, "a@2", 0},
		"a write that the informer has shown already leaves none": {state("a", 1), func(w *world) { w.writes(state("a", 2), func() { w.shows(state("a", 3)) }) }, "a@3", 0},
		"it ends when the informer has come to its version":       {state("a", 1), func(w *world) { w.writes(state("a", 5)); w.cache = nil; w.comesTo("6") }, "nothing", 0},
		"not before": {state("a", 1), func(w *world) { w.writes(state("a", 5)); w.comesTo("4") }, "a@5", 1},
		"it ends with a complete list begun later": {state("a", 5), func(w *world) { w.writes(state("a", 9)); w.relists(state("a", 3)) }, "a@3", 0},
		"a list begun before doesn't end it":       {state("a", 5), func(w *world) { w.relists(state("a", 5)); w.writes(state("a", 9)) }, "a@9", 1},
		"a predecessor that is still shown":        {state("a", 1), func(w *world) { w.writes(state("b", 5)) }, "b@5", 1},
		"another version's write is read":          {state("a", 1), func(w *world) { w.writesUnread(state("a", 2)) }, "unread", 1},
		"until it is shown":                        {state("a", 1), func(w *world) { w.writesUnread(state("a", 2)); w.shows(state("a", 2)) }, "a@2", 0},
		"our own write after it is not":            {state("a", 1), func(w *world) { w.writesUnread(state("a", 2)); w.writes(state("a", 3)) }, "a@3", 1},
		"a deletion after it is seen":              {state("a", 1), func(w *world) { w.writesUnread(state("a", 2)); w.deletes("a") }, "nothing", 1},
		"it ends with another object":              {state("a", 1), func(w *world) { w.writes(state("a", 2)); w.shows(state("b", 5)) }, "b@5", 0},
		"it ends with the object":                  {state("a", 1), func(w *world) { w.writes(state("a", 2)); w.showsGone() }, "nothing", 0},
		"the end of a predecessor doesn't end it":  {state("a", 1), func(w *world) { w.deletes("a"); w.writes(state("b", 5)); w.showsGone() }, "b@5", 1},
		"the later of two writes":                  {state("a", 1), func(w *world) { w.writes(state("a", 2)); w.writes(state("a", 3)) }, "a@3", 1},
		"answers that overtake each other":         {state("a", 1), func(w *world) { w.writes(state("a", 2), func() { w.writes(state("a", 3)) }) }, "a@3", 1},

		"a deletion is seen":                              {state("a", 1), func(w *world) { w.deletes("a") }, "nothing", 1},
		"it ends with the event":                          {state("a", 1), func(w *world) { w.deletes("a"); w.showsGone() }, "nothing", 0},
		"a later state of the same object doesn't end it": {state("a", 1), func(w *world) { w.deletes("a"); w.shows(state("a", 2)) }, "nothing", 1},
		"a deletion ends with another object":             {state("a", 1), func(w *world) { w.deletes("a"); w.shows(state("b", 5)) }, "b@5", 0},
		"a deletion whose event came first":               {state("a", 1), func(w *world) { w.deletes("a", w.showsGone) }, "nothing", 0},
		"a write whose object ended meanwhile":            {state("a", 1), func(w *world) { w.writes(state("a", 2), w.showsGone) }, "nothing", 0},
		"a write answered after the deletion":             {state("a", 1), func(w *world) { w.writes(state("a", 2), func() { w.deletes("a") }) }, "nothing", 1},
		"created again after a deletion":                  {state("a", 1), func(w *world) { w.deletes("a"); w.writes(state("b", 5)) }, "b@5", 1},
		"created again, predecessor's event late":         {state("a", 1), func(w *world) { w.deletes("a"); w.writes(state("b", 5)); w.showsGone(); w.shows(state("b", 5)) }, "b@5", 0},

		"it ends when the informer has passed its end":         {state("a", 1), func(w *world) { w.deletes("a"); w.cache = nil; w.comesTo("3") }, "nothing", 0},
		"a deletion of what was written but never shown":       {nil, func(w *world) { w.writes(state("a", 5)); w.comesTo("4"); w.deletes("a") }, "nothing", 1},
		"it ends without the object ever being shown":          {nil, func(w *world) { w.writes(state("a", 5)); w.deletes("a"); w.comesTo("5") }, "nothing", 0},
		"it isn't ended by a predecessor":                      {state("a", 1), func(w *world) { w.writes(state("b", 5)); w.deletes("b") }, "nothing", 1},
		"it ends with a complete list begun after it":          {state("a", 1), func(w *world) { w.deletes("a"); w.relists(nil) }, "nothing", 0},
		"a successor written before the deletion was answered": {state("a", 1), func(w *world) { w.deletes("a", func() { w.writes(state("b", 5)) }) }, "b@5", 1},
		"a deletion without a uid is of what is known":         {state("a", 1), func(w *world) { w.deletes("") }, "nothing", 1},

		"the write that takes the last finalizer off": {terminating("a", 1, "x"), func(w *world) { w.writes(terminating("a", 1)) }, "nothing", 1},
		"a held object that is being deleted":         {state("a", 1), func(w *world) { w.writes(terminating("a", 2, "x")) }, "a@2", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(test.cached)
			test.play(w)
			assert.Equal(t, test.want, w.read())
			assert.Len(t, w.entries, test.kept)
			assert.Empty(t, w.writing, "nothing is under way any more")
			assert.Empty(t, w.log.String())
		})
	}
}

func TestOverlayBelievesTheWatchInTheEnd(t *testing.T) {
	t.Parallel()
	t.Run("a write that is never seen, with a warning", func(t *testing.T) {
		t.Parallel()
		w := newWorld(state("a", 1))
		w.writes(state("a", 2))
		w.time = w.time.Add(overlayLifetime)
		assert.Equal(t, "a@2", w.read())
		w.time = w.time.Add(time.Second)
		assert.Equal(t, "a@1", w.read(), "a restored etcd goes back in versions")
		assert.Equal(t, fromNeither, w.from, "so that the reader asks the API server")
		assert.Contains(t, w.log.String(), "the watch did not show our own write in time")
		assert.Contains(t, w.log.String(), "ConfigMap shop/settings")
		assert.Empty(t, w.entries)
	})
	t.Run("a deletion that is never seen, with a warning", func(t *testing.T) {
		t.Parallel()
		w := newWorld(state("a", 1))
		w.deletes("a")
		w.time = w.time.Add(overlayLifetime + time.Second)
		assert.Equal(t, "a@1", w.read())
		assert.Contains(t, w.log.String(), "the watch did not show our own write in time")
	})
	t.Run("a deletion of what was never seen, in silence", func(t *testing.T) {
		t.Parallel()
		w := newWorld(nil)
		w.deletes("a")
		w.time = w.time.Add(overlayLifetime + time.Second)
		assert.Equal(t, "nothing", w.read())
		assert.Empty(t, w.log.String())
		assert.Empty(t, w.entries)
	})
}

// A write of an object without a name is of any name that comes.
func TestOverlayOfGeneratedNames(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	nameless := settingsRef
	nameless.Name = ""
	end := w.begin(nameless)
	w.shows(state("a", 2))
	w.showsGone()
	w.wrote(settingsRef, state("a", 2))
	end()
	assert.Equal(t, "nothing", w.read(), "it was deleted before the answer to its creation came")
	assert.Empty(t, w.entries)
	assert.Empty(t, w.writing)
}

// A list with an object that is known by its version only is not complete.
func TestOverlayListsWhatIsUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(state("a", 1))
	w.writesUnread(state("a", 2))
	cached := func() []*unstructured.Unstructured { return []*unstructured.Unstructured{w.cache} }
	_, complete := w.list(settingsKind, "", cached)
	assert.False(t, complete)
	w.shows(state("a", 2))
	objects, complete := w.list(settingsKind, "", cached)
	assert.True(t, complete)
	assert.Equal(t, []*unstructured.Unstructured{w.cache}, objects)
}

func TestOverlayForgetsWhatNobodyReads(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	w.overlay.deleted(deploy.Ref{Kind: settingsKind, Namespace: "shop", Name: "other"}, "o")
	w.time = w.time.Add(overlayLifetime + time.Second)
	w.writes(state("a", 2))
	assert.Len(t, w.entries, 1)
}

func TestOverlayLists(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	elsewhere := named("elsewhere", "e", 7)
	elsewhere.SetNamespace("bank")
	for _, written := range []*unstructured.Unstructured{named("changed", "c", 5), named("new", "n", 6), elsewhere} {
		ref := deploy.Ref{Kind: settingsKind, Namespace: written.GetNamespace(), Name: written.GetName()}
		w.wrote(ref, written)
	}
	w.deleted(deploy.Ref{Kind: settingsKind, Namespace: "shop", Name: "deleted"}, "d")
	w.wrote(deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: "shop", Name: "s"}, named("s", "s", 8))
	cached := func() []*unstructured.Unstructured {
		return []*unstructured.Unstructured{named("same", "s", 1), named("changed", "c", 1), named("deleted", "d", 1)}
	}
	names := func(namespace string) map[string]string {
		found := map[string]string{}
		objects, complete := w.list(settingsKind, namespace, cached)
		assert.True(t, complete)
		for _, obj := range objects {
			found[obj.GetName()] = obj.GetResourceVersion()
		}
		return found
	}
	assert.Equal(t, map[string]string{"same": "1", "changed": "5", "new": "6"}, names("shop"))
	assert.Equal(t, map[string]string{"same": "1", "changed": "5", "new": "6", "elsewhere": "7"}, names(""))
}

func TestRemoved(t *testing.T) {
	t.Parallel()
	deleted := func(apiVersion, kind string, more map[string]any) *unstructured.Unstructured {
		metadata := map[string]any{"name": "shop", "uid": "a", "deletionTimestamp": "2030-01-01T00:00:00Z"}
		maps.Copy(metadata, more)
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}}
	}
	for _, row := range []struct {
		reason string
		answer *unstructured.Unstructured
		want   bool
	}{
		{"it isn't being deleted", state("a", 1), false},
		{"nothing holds it", deleted("v1", "ConfigMap", nil), true},
		{"a finalizer holds it", deleted("v1", "ConfigMap", map[string]any{"finalizers": []any{"operkit.dev/a"}}), false},
		{"it has time to end", deleted("v1", "Pod", map[string]any{"deletionGracePeriodSeconds": int64(30)}), false},
		{"its time is over", deleted("v1", "Pod", map[string]any{"deletionGracePeriodSeconds": int64(0)}), true},
		{"what holds a Namespace isn't in its metadata", deleted("v1", "Namespace", nil), false},
		{"somebody else's kind of that name is like others", deleted("other.dev/v1", "Namespace", nil), true},
	} {
		assert.Equal(t, row.want, isGone(row.answer), row.reason)
	}
}

func TestNewer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"2", "1", true}, {"1", "2", false}, {"1", "1", false}, {"10", "9", true},
		{"18446744073709551616", "18446744073709551615", true},
		{"x", "1", true}, {"1", "x", true}, {"", "1", true},
	} {
		assert.Equal(t, test.want, newer(test.a, test.b), "%q and %q: what can't be compared counts as newer", test.a, test.b)
	}
}
