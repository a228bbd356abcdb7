package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/api"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

// testUsers: RBAC decides what a user of 'devcluster kubeconfig --user' may do.
func testUsers(t *testing.T, c *cluster) {
	t.Helper()
	bob := c.user("bob", "readers")
	err := bob.Get(t.Context(), configMaps, nil)
	var refused *api.StatusError
	require.ErrorAs(t, err, &refused, "a new user has no rights")
	assert.Equal(t, http.StatusForbidden, refused.Code)
	assert.Contains(t, refused.Message, `User "bob" cannot list resource "configmaps"`)

	c.apply(`apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: default}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers}]
`)
	require.Eventually(t, func() bool { return bob.Get(t.Context(), configMaps, nil) == nil }, patience, interval,
		"the API server follows its own rules")
	require.ErrorAs(t, c.user("eve").Get(t.Context(), configMaps, nil), &refused, "someone outside the group")
	assert.Equal(t, http.StatusForbidden, refused.Code)
	require.ErrorAs(t, bob.Create(t.Context(), configMaps, map[string]any{}, nil), &refused, "a verb that was not granted")
	assert.Equal(t, http.StatusForbidden, refused.Code)

	_, stdout, _ := devcluster(t, "kubeconfig", "--dir", string(c.dir))
	raw, err := os.ReadFile(c.dir.Kubeconfig())
	require.NoError(t, err)
	assert.Equal(t, string(raw), stdout, "without --user it is the administrator's")
}

// event is the part of an audit event that is of interest.
type event struct {
	Level, Stage, AuditID, Verb, RequestURI string
	User                                    struct{ Username string }
	ObjectRef                               *struct{ Resource, Namespace, Name string }
	ResponseStatus                          *struct{ Code int }
	RequestObject                           any
}

// audit returns the events of one user.
func audit(t *testing.T, c *cluster, user string) []event {
	t.Helper()
	raw, err := os.ReadFile(c.dir.AuditLog())
	require.NoError(t, err)
	raw = raw[:bytes.LastIndexByte(raw, '\n')+1] // what comes after that is being written
	var events []event
	scanner := bufio.NewScanner(bytes.NewReader(raw))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var e event
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &e), scanner.Text())
		if e.User.Username == user {
			events = append(events, e)
		}
	}
	require.NoError(t, scanner.Err())
	return events
}

// testAudit: every call is in the log by the time that its caller has the answer.
func testAudit(t *testing.T, c *cluster) {
	t.Helper()
	carol := c.user("carol", "system:masters")
	for i := range 50 {
		object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprint("audited-", i)}}
		require.NoError(t, carol.Create(t.Context(), configMaps, object, nil))
		events := audit(t, c, "carol")
		require.Len(t, events, i+1, "one event for each call, at once")
		last := events[i]
		assert.Equal(t, []string{"Metadata", "ResponseComplete", "create", "configmaps", "default"},
			[]string{last.Level, last.Stage, last.Verb, last.ObjectRef.Resource, last.ObjectRef.Namespace})
		assert.Equal(t, http.StatusCreated, last.ResponseStatus.Code)
		assert.Nil(t, last.RequestObject, "bodies are not logged")
	}
	// A call that fails is one too.
	require.True(t, api.IsNotFound(carol.Get(t.Context(), configMaps+"/none", nil)))
	events := audit(t, c, "carol")
	require.Len(t, events, 51)
	assert.Equal(t, http.StatusNotFound, events[50].ResponseStatus.Code)

	dave := c.user("dave", "system:masters")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	watched := make(chan error, 1)
	go func() { watched <- dave.Get(ctx, configMaps+"?watch=true", nil) }()
	require.Eventually(t, func() bool { return len(audit(t, c, "dave")) == 1 }, patience, interval, "a watch is logged when it begins")
	cancel()
	assert.ErrorIs(t, <-watched, context.Canceled)
	require.Eventually(t, func() bool { return len(audit(t, c, "dave")) == 2 }, patience, interval, "and when it ends")
	stages := audit(t, c, "dave")
	assert.Equal(t, []string{"ResponseStarted", "ResponseComplete"}, []string{stages[0].Stage, stages[1].Stage})
	assert.Equal(t, stages[0].AuditID, stages[1].AuditID)

	raw, err := os.ReadFile(c.dir.AuditLog())
	require.NoError(t, err)
	assert.NotContains(t, string(raw), `"requestURI":"/readyz`, "health checks are not calls")
	assert.Less(t, strings.Count(string(raw), "RequestReceived\""), 1)
}
