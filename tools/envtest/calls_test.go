package envtest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/envtest"
	"github.com/operkit/operkit/tools/envtest/audit"
)

func TestCallsAreCountedExactly(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	other := env.User(t, "other", envtest.EverythingInNamespace())
	mine := client(t, env.Config).Resource(configMaps).Namespace(env.Namespace)
	theirs := client(t, other.Config).Resource(configMaps).Namespace(env.Namespace)
	ctx := t.Context()
	create := func(name string) {
		_, err := mine.Create(ctx, configMap(name), metav1.CreateOptions{})
		require.NoError(t, err)
	}
	create("before-the-mark")
	mark := env.Mark(t)
	assert.Empty(t, env.CallsSince(t, mark), "what was before the mark is not after it")

	// Seven writes: two creates, of which one fails, an apply, a patch, an update, a delete, a delete of many.
	create("a")
	_, err := mine.Create(ctx, configMap("a"), metav1.CreateOptions{})
	require.Error(t, err)
	_, err = mine.Apply(ctx, "b", configMap("b"), metav1.ApplyOptions{FieldManager: "test"})
	require.NoError(t, err)
	_, err = mine.Patch(ctx, "a", "application/merge-patch+json", []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	live, err := mine.Get(ctx, "a", metav1.GetOptions{}) // first read
	require.NoError(t, err)
	_, err = mine.Update(ctx, live, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, mine.Delete(ctx, "a", metav1.DeleteOptions{}))
	require.NoError(t, mine.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "no=such"}))
	// Three reads with the one above.
	_, err = mine.Get(ctx, "absent", metav1.GetOptions{})
	require.Error(t, err)
	_, err = mine.List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	// Neither reads nor writes: dry runs and questions.
	_, err = mine.Create(ctx, configMap("dry"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	_, err = mine.Apply(ctx, "dry", configMap("dry"), metav1.ApplyOptions{FieldManager: "test", DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	askForRights(t, env)
	require.NoError(t, rawClient(t, env.Config).Get().AbsPath("/apis").Do(ctx).Error())
	// Another user's.
	_, err = theirs.Create(ctx, configMap("theirs"), metav1.CreateOptions{})
	require.NoError(t, err)

	calls := env.CallsSince(t, mark)
	assert.Len(t, calls.Writes(), 7, calls)
	assert.Len(t, calls.Reads(), 3, calls)
	assert.Len(t, calls.DryRuns(), 2, calls)
	assert.Len(t, calls.Failed(), 2, calls)
	assert.Len(t, calls, 14, "and nothing else: %s", calls)
	assert.Empty(t, calls.By(other.Name))
	assert.Equal(t, map[string]int{
		"create configmaps": 2, "patch configmaps": 2, "update configmaps": 1,
		"delete configmaps": 1, "deletecollection configmaps": 1,
	}, calls.Writes().Count())
	assert.Equal(t, map[string]int{"create configmaps": 1}, env.CallsSince(t, mark, other).Count())
	assert.Len(t, env.CallsSince(t, mark, env.Self, other), 15)
	assert.Len(t, env.Calls(t).Writes(), 8, "since the start: one more")

	conflict := calls.Failed().Writes()
	require.Len(t, conflict, 1)
	assert.Equal(t, audit.Call{
		ID: conflict[0].ID, Received: conflict[0].Received, UserAgent: conflict[0].UserAgent, Path: conflict[0].Path,
		User: env.Self.Name, Verb: "create", Version: "v1", Resource: "configmaps",
		Namespace: env.Namespace, Name: "a", Code: 409,
	}, conflict[0])
	byAnyone := env.NamespaceCalls(t, mark).Of("configmaps").Writes()
	assert.Len(t, byAnyone.By(env.Self.Name, other.Name), 8)
}

func askForRights(t *testing.T, env *envtest.Env) {
	t.Helper()
	review := configMap("")
	review.SetAPIVersion("authorization.k8s.io/v1")
	review.SetKind("SelfSubjectAccessReview")
	review.Object["spec"] = map[string]any{"resourceAttributes": map[string]any{"verb": "get", "resource": "pods"}}
	reviews := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	_, err := client(t, env.Config).Resource(reviews).Create(t.Context(), review, metav1.CreateOptions{})
	require.NoError(t, err)
}

// A flush proves nothing when the log is only usually in time, so this asks often and from many sides at once.
func TestCallsAreExactUnderLoad(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	const workers, rounds, perRound = 4, 15, 5
	users := make([]*envtest.User, workers)
	for i := range users {
		users[i] = env.User(t, fmt.Sprintf("worker-%d", i), envtest.EverythingInNamespace())
	}
	var group sync.WaitGroup
	for i, user := range users {
		group.Go(func() {
			for round := range rounds {
				mark := env.Mark(t)
				for n := range perRound {
					assert.NoError(t, createConfigMap(t, user.Config, env.Namespace, fmt.Sprintf("w%d-%d-%d", i, round, n)))
				}
				assert.Len(t, env.CallsSince(t, mark, user).Writes(), perRound)
			}
		})
	}
	group.Wait()
	assert.Len(t, env.Calls(t, users...).Writes(), workers*rounds*perRound)
}

func TestCallsCountAWatchWhenItBegins(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	resource := client(t, env.Config).Resource(configMaps).Namespace(env.Namespace)
	watch := func() (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		w, err := resource.Watch(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		return func() {
			cancel()
			w.Stop()
			for range w.ResultChan() { // until the client has seen the end too
			}
		}
	}
	endFirst := watch()
	mark := env.Mark(t)
	endSecond := watch()
	assert.Len(t, env.CallsSince(t, mark).Watches(), 1, "the second, which still runs")
	endSecond()
	endFirst()
	require.NoError(t, createConfigMap(t, env.Config, env.Namespace, "after"))
	calls := env.CallsSince(t, mark)
	assert.Len(t, calls.Watches(), 1, "an end is no second one, nor is the end of one from before: %s", calls)
	assert.Empty(t, calls.Reads(), "a watch is no read")
	assert.Len(t, env.Calls(t).Watches(), 2)
}
