package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	v1 "github.com/operkit/operkit/examples/guestbook/api/v1"
	"github.com/operkit/operkit/tools/envtest/program"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// columns returns what `kubectl get guestbooks` shows of the only guestbook, without its age, and what `-o wide` adds.
func (w *world) columns() (short, wide string) {
	w.t.Helper()
	client, err := rest.HTTPClientFor(w.Admin)
	require.NoError(w.t, err)
	url := fmt.Sprintf("%s/apis/examples.operkit.dev/v1/namespaces/%s/guestbooks", w.Admin.Host, w.Namespace)
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, url, nil)
	require.NoError(w.t, err)
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := client.Do(request)
	require.NoError(w.t, err)
	defer response.Body.Close()
	var table metav1.Table
	require.NoError(w.t, json.NewDecoder(response.Body).Decode(&table))
	if len(table.Rows) != 1 {
		return "", ""
	}
	var texts [2][]string
	for i, column := range table.ColumnDefinitions {
		if cell := table.Rows[0].Cells[i]; cell != nil && column.Name != "Age" {
			texts[column.Priority] = append(texts[column.Priority], column.Name+"="+fmt.Sprint(cell))
		}
	}
	return strings.Join(texts[0], " "), strings.Join(texts[1], " ")
}

// TestColumns: `kubectl get` explains a guestbook while it starts, runs and is deleted. If the deletion hangs, the reason
// is also in the first line of the command status, in the log and in an event.
func TestColumns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start("GUESTBOOK_OPERATOR_WATCH_RECHECK=3s")
	w.forbid("no-pods", "pods")
	w.create()
	var short, wide string
	w.Eventually("it starts", func() bool {
		short, wide = w.columns()
		return short == "Name=hello Ready=False Reason=VerifyWait Components=0/2"
	})
	assert.Contains(t, wide, "Message=redis: StatefulSet hello-redis: InProgress (")
	w.Delete(quotas, "no-pods")
	w.settled()
	short, wide = w.columns()
	assert.Equal(t, "Name=hello Ready=True Reason=Stable Components=2/2", short)
	assert.Equal(t, "Message=Rollout Complete", wide)

	w.Merge(deployments, "hello-web", `{"metadata":{"finalizers":["example.dev/stays"]}}`)
	w.Delete(v1.GuestbookKind, "hello")
	reason := "finalize: waiting until Deployment " + w.Namespace + "/hello-web is gone"
	w.Eventually("it is being deleted", func() bool {
		short, wide = w.columns()
		return short == "Name=hello Ready=True Reason=PreconditionWait Components=2/2"
	})
	assert.Equal(t, "Message="+reason, wide)
	status := program.Run(t, program.Command("status", "hello", "--namespace", w.Namespace, "--kubeconfig", w.config))
	first, _, _ := strings.Cut(status.Stdout, "\n")
	assert.Regexp(t, "^Guestbook +"+w.Namespace+"/hello is being deleted: "+reason+"$", first)
	w.Eventually("an event says that it hangs", func() bool {
		return strings.Contains(strings.Join(w.events(), "\n"), "Warning DeletionHangs: the deletion hangs: "+reason)
	})
	w.Eventually("so does the log", func() bool { return strings.Contains(p.Output(), `msg="the deletion hangs"`) })
	assert.Regexp(t, `level=WARN msg="the deletion hangs" .*since=\d+s reason="`+reason, p.Output())
	time.Sleep(4 * time.Second) // longer than it takes until the next reconcile
	assert.Equal(t, 1, strings.Count(p.Output(), `msg="the deletion hangs"`), "once")
	w.Merge(deployments, "hello-web", `{"metadata":{"finalizers":null}}`)
	w.Eventually("it is gone", func() bool { return w.Get(v1.GuestbookKind, "hello") == nil })
}
