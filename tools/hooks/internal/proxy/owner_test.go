package proxy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/hooks/internal/proxy"
)

const (
	ofTom  = `{"apiVersion":"example.com/v1","kind":"Cat","name":"tom","uid":"uid-of-tom"}`
	ofFarm = `{"apiVersion":"example.com/v1","kind":"Farm","name":"farm","uid":"uid-of-farm"}`
	byTom  = `"operator-sdk/primary-resource":"a/tom","operator-sdk/primary-resource-type":"Cat.example.com"`
)

// What is sent of a body, for an owner with a namespace and one without.
func TestOwners(t *testing.T) {
	t.Parallel()
	const (
		inA   = "/api/v1/namespaces/a/configmaps"
		inB   = "/api/v1/namespaces/b/configmaps"
		apply = "application/apply-patch+yaml"
	)
	for _, row := range []struct {
		reason, owner, method, path, kind, body string
		want                                    string
	}{
		{"a reference", "Cat", "POST", inA, "", `{"metadata":{"name":"b"},"data":{"a":"<1>"}}`, `{"metadata":{"name":"b","ownerReferences":[` + ofTom + `]},"data":{"a":"<1>"}}`},
		{"an object without metadata", "Cat", "POST", inA, "", `{}`, `{"metadata":{"ownerReferences":[` + ofTom + `]}}`},
		{"null counts as nothing", "Cat", "POST", inA, "", `{"metadata":{"name":"b","ownerReferences":null}}`, `{"metadata":{"name":"b","ownerReferences":[` + ofTom + `]}}`},
		{"a generated name", "Cat", "POST", inA, "", `{"metadata":{"generateName":"b-"}}`, `{"metadata":{"generateName":"b-","ownerReferences":[` + ofTom + `]}}`},
		{"a dry run", "Cat", "POST", inA + "?dryRun=All", "", `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"b","ownerReferences":[` + ofTom + `]}}`},
		{"YAML", "Cat", "POST", inA, "application/yaml", "metadata:\n  name: b\ndata: {a: 'yes'}", `{"metadata":{"name":"b","ownerReferences":[` + ofTom + `]},"data":{"a":"yes"}}`},
		{"another namespace: annotations", "Cat", "POST", inB, "", `{"metadata":{"name":"b","annotations":{"c":"d"}}}`, `{"metadata":{"name":"b","annotations":{"c":"d",` + byTom + `}}}`},
		{"no namespace: annotations", "Cat", "POST", "/api/v1/namespaces", "", `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"b","annotations":{` + byTom + `}}}`},
		{"an owner without a namespace: a reference", "Farm", "POST", inB, "", `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"b","ownerReferences":[` + ofFarm + `]}}`},
		{"of an object without one, too", "Farm", "POST", "/api/v1/namespaces", "", `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"b","ownerReferences":[` + ofFarm + `]}}`},
		{"references to others stay", "Cat", "POST", inA, "", `{"metadata":{"ownerReferences":[{"uid":"other","controller":true}]}}`, `{"metadata":{"ownerReferences":[{"uid":"other","controller":true},` + ofTom + `]}}`},
		{"one that exists stays", "Cat", "POST", inA, "", `{"metadata":{"ownerReferences":[{"uid":"uid-of-tom","controller":true}]}}`, `{"metadata":{"ownerReferences":[{"uid":"uid-of-tom","controller":true}]}}`},
		{"large numbers stay", "Cat", "POST", inA, "", `{"metadata":{"name":"b"},"n":12345678901234567890,"f":1.0}`, `{"metadata":{"name":"b","ownerReferences":[` + ofTom + `]},"n":12345678901234567890,"f":1.0}`},
		{"an apply creates", "Cat", "PATCH", inA + "/b?fieldManager=c", apply, `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"b","ownerReferences":[` + ofTom + `]}}`},
		{"in YAML", "Cat", "PATCH", inA + "/b?fieldManager=c", apply, "metadata: {name: b}", `{"metadata":{"name":"b","ownerReferences":[` + ofTom + `]}}`},
		{"an update creates", "Cat", "PUT", inA + "/b", "", `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"b","ownerReferences":[` + ofTom + `]}}`},
		{"an apply of one that it owns", "Cat", "PATCH", inA + "/owned?fieldManager=c", apply, `{"metadata":{"name":"owned"}}`, `{"metadata":{"name":"owned","ownerReferences":[` + ofTom + `]}}`},
		{"by annotations", "Cat", "PATCH", inB + "/annotated?fieldManager=c", apply, `{"metadata":{"name":"annotated"}}`, `{"metadata":{"name":"annotated","annotations":{` + byTom + `}}}`},
		{"an update of one that it owns", "Cat", "PUT", inA + "/owned", "", `{"metadata":{"name":"owned"}}`, `{"metadata":{"name":"owned","ownerReferences":[` + ofTom + `]}}`},
		{"an apply of one of others takes nothing over", "Cat", "PATCH", inA + "/others?fieldManager=c", apply, `{"metadata":{"name":"others"}}`, `{"metadata":{"name":"others"}}`},
		{"nor does an update", "Cat", "PUT", inA + "/others", "", `{"metadata":{"name":"others"}}`, `{"metadata":{"name":"others"}}`},
		{"a patch doesn't create", "Cat", "PATCH", inA + "/b", "application/merge-patch+json", `{"data":{"a":"b"}}`, `{"data":{"a":"b"}}`},
		{"a list of operations", "Cat", "PATCH", inA + "/b", "application/json-patch+json", `[{"op":"remove","path":"/data"}]`, `[{"op":"remove","path":"/data"}]`},
		{"a subresource isn't an object", "Cat", "PUT", "/apis/apps/v1/namespaces/a/deployments/b/scale", "", `{"spec":{"replicas":2}}`, `{"spec":{"replicas":2}}`},
		{"nor is an eviction", "Cat", "POST", "/api/v1/namespaces/a/pods/b/eviction", "", `{"metadata":{"name":"b"}}`, `{"metadata":{"name":"b"}}`},
		{"the owner doesn't own itself", "Cat", "PATCH", "/apis/example.com/v1/namespaces/a/cats/tom?fieldManager=c", apply, `{"metadata":{"name":"tom"}}`, `{"metadata":{"name":"tom","uid":"uid-of-tom"}}`},
		{"but another one of its kind", "Cat", "POST", "/apis/example.com/v1/namespaces/a/cats", "", `{"metadata":{"name":"kit"}}`, `{"metadata":{"name":"kit","ownerReferences":[` + ofTom + `]}}`},
		{"a deletion", "Cat", "DELETE", inA + "/b", "", `{"propagationPolicy":"Foreground"}`, `{"propagationPolicy":"Foreground"}`},
		{"one without a body", "Cat", "DELETE", inA + "/b", "", ``, ``},
	} {
		t.Run("hooks 45: "+row.reason, func(t *testing.T) {
			t.Parallel()
			api := startFake(t, existing)
			p, _ := startProxy(t, api.url)
			grant := proxy.Grant{Owner: resource("Cat", "a", "tom"), ServiceAccount: runner}
			if row.owner == "Farm" {
				grant.Owner = resource("Farm", "", "farm")
			}
			grant.Kinds = append(grant.Kinds, configMaps, deployments, pods, cats, namespaces)
			access, err := p.Issue(grant)
			require.NoError(t, err)
			headers := []string{}
			if row.kind != "" {
				headers = append(headers, "Content-Type", row.kind)
			}
			code, body := use(t, access).do(t, row.method, row.path, row.body, headers...)
			require.Equal(t, http.StatusOK, code, body)
			all := api.requests()
			got := all[len(all)-1]
			assert.Equal(t, row.method+" "+row.path, got.Method+" "+got.RequestURI)
			if row.want == "" {
				assert.Empty(t, got.Body)
				return
			}
			assert.JSONEq(t, row.want, got.Body)
			assert.Contains(t, got.Body, numbersOf(row.want), "numbers keep their form")
			wantKind := strings.Replace(row.kind, "application/yaml", "", 1)
			if wantKind == "" {
				wantKind = "application/json"
			}
			assert.Equal(t, wantKind, got.Header.Get("Content-Type"))
			looks := row.method == "PUT" || row.kind == apply
			if strings.Contains(row.path, "cats/tom") || strings.Contains(row.path, "/scale") {
				looks = false
			}
			assert.Equal(t, looks, len(all) == 2, "only an apply and an update look whether the object exists")
			for _, one := range all {
				assert.Equal(t, "system:serviceaccount:a:runner", one.Header.Get("Impersonate-User"))
			}
		})
	}
}

// numbersOf returns the numbers of a body whose form would be lost in a float.
func numbersOf(body string) string {
	if _, numbers, ok := strings.Cut(body, `"n":`); ok {
		number, _, _ := strings.Cut(numbers, ",")
		return number
	}
	return ""
}

// existing is an API server with some ConfigMaps.
func existing(w http.ResponseWriter, r received) {
	if r.Method == "GET" {
		switch name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]; name {
		case "owned":
			_, _ = w.Write([]byte(`{"metadata":{"name":"owned","ownerReferences":[{"uid":"other"},` + ofTom + `]}}`))
		case "tom":
			_, _ = w.Write([]byte(`{"metadata":{"uid":"uid-of-tom"}}`))
		case "annotated":
			_, _ = w.Write([]byte(`{"metadata":{"annotations":{` + byTom + `}}}`))
		case "others":
			_, _ = w.Write([]byte(`{"metadata":{"ownerReferences":[{"uid":"other"}],"annotations":{"operator-sdk/primary-resource":"a/tom"}}}`))
		case "hidden":
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"kind":"Status","reason":"Forbidden","message":"configmaps \"hidden\" is forbidden"}`))
		case "broken":
			w.WriteHeader(http.StatusInternalServerError)
		case "odd":
			_, _ = w.Write([]byte(`<html>`))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		return
	}
	_, _ = w.Write([]byte("{}"))
}

// A write of the owner is for the owner of the run only.
func TestPinned(t *testing.T) {
	t.Parallel()
	uid := "uid-of-tom"
	api := startFake(t, func(w http.ResponseWriter, r received) {
		if r.Method == "GET" && uid == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(`{"metadata":{"uid":"` + uid + `"}}`))
	})
	p, _ := startProxy(t, api.url)
	client := use(t, issue(t, p, configMaps))
	const (
		at    = "/apis/example.com/v1/namespaces/a/cats/tom"
		merge = "application/merge-patch+json"
		list  = "application/json-patch+json"
	)
	for _, row := range []struct{ reason, method, path, kind, body, want string }{
		{"an apply", "PATCH", at, "application/apply-patch+yaml", "spec: {a: b}", `{"spec":{"a":"b"},"metadata":{"uid":"uid-of-tom"}}`},
		{"an update", "PUT", at, "", `{"metadata":{"name":"tom"}}`, `{"metadata":{"name":"tom","uid":"uid-of-tom"}}`},
		{"an update in YAML", "PUT", at, "application/yaml", "metadata: {name: tom}", `{"metadata":{"name":"tom","uid":"uid-of-tom"}}`},
		{"a patch of the status", "PATCH", at + "/status", merge, `{"status":{"a":"b"}}`, `{"status":{"a":"b"},"metadata":{"uid":"uid-of-tom"}}`},
		{"a patch that names another one", "PATCH", at, merge, `{"metadata":{"uid":"other"}}`, `{"metadata":{"uid":"uid-of-tom"}}`},
		{"a list of operations", "PATCH", at + "/status", list, `[{"op":"remove","path":"/status"}]`, `[{"op":"test","path":"/metadata/uid","value":"uid-of-tom"},{"op":"remove","path":"/status"}]`},
		{"an object of another kind isn't pinned", "PATCH", "/api/v1/namespaces/a/configmaps/tom", merge, `{"data":{}}`, `{"data":{}}`},
	} {
		t.Run("hooks 53: "+row.reason, func(t *testing.T) {
			api.requests()
			headers := []string{}
			if row.kind != "" {
				headers = append(headers, "Content-Type", row.kind)
			}
			code, body := client.do(t, row.method, row.path, row.body, headers...)
			require.Equal(t, http.StatusOK, code, body)
			got := api.requests()
			assert.JSONEq(t, row.want, got[len(got)-1].Body)
			if row.reason == "a patch of the status" {
				require.Len(t, got, 2, "the API server doesn't compare the uid then")
				assert.Equal(t, "GET "+at, got[0].Method+" "+got[0].URL.Path)
				return
			}
			assert.Len(t, got, 1)
		})
	}
	for _, uid = range []string{"", "other"} {
		t.Run("hooks 53: the owner is gone", func(t *testing.T) {
			api.requests()
			got := client.refused(t, http.StatusConflict, "PATCH", at+"/status", `{"status":{}}`, "Content-Type", merge)
			assert.Equal(t, "hooks proxy: "+at+": Cat.example.com a/tom is gone, and with it what this run is for: end the run", got)
			assert.Len(t, api.requests(), 1)
		})
	}
	for body, kind := range map[string]string{"{}": list, "[]": merge, "null": merge} {
		t.Run("hooks 53: a patch that is none", func(t *testing.T) {
			api.requests()
			assert.Contains(t, client.refused(t, http.StatusBadRequest, "PATCH", at, body, "Content-Type", kind), "body: it isn't ")
			assert.Empty(t, api.requests())
		})
	}
}

func TestOwnersThatCannotBeKnown(t *testing.T) {
	t.Parallel()
	api := startFake(t, existing)
	p, _ := startProxy(t, api.url)
	client := use(t, issue(t, p, configMaps))
	for _, row := range []struct {
		name, want string
		code       int
	}{
		{"hidden", `update /api/v1/namespaces/a/configmaps/hidden: whether it exists must be known, so that nothing of others is taken over: configmaps "hidden" is forbidden`, 403},
		{"broken", "whether it exists must be known", 500},
		{"odd", "does it exist? invalid character '<'", 502},
	} {
		t.Run("hooks 45: nothing is written if it can't be found out whether an object exists", func(t *testing.T) {
			api.requests()
			assert.Contains(t, client.refused(t, row.code, "PUT", "/api/v1/namespaces/a/configmaps/"+row.name, `{}`), row.want)
			assert.Len(t, api.requests(), 1)
		})
	}
}

func TestGrants(t *testing.T) {
	t.Parallel()
	p, _ := startProxy(t, "http://127.0.0.1:1")
	empty := resource("", "", "")
	empty.Object = map[string]any{}
	_, err := p.Issue(proxy.Grant{})
	assert.EqualError(t, err, "grant: nil Owner\ngrant: no ServiceAccount: set its namespace and its name")
	_, err = p.Issue(proxy.Grant{Owner: empty, ServiceAccount: runner, Kinds: append(noKinds, configMaps)})
	for _, want := range []string{"no apiVersion", "no kind", "no metadata.name", "no metadata.uid", `grant: kind "" of group "apps": no kind`} {
		assert.ErrorContains(t, err, want)
	}
	p.Close()
	_, err = p.Issue(proxy.Grant{Owner: resource("Cat", "a", "tom"), ServiceAccount: runner})
	assert.EqualError(t, err, "proxy: closed: it gives no access any more")
	require.NoError(t, p.Wait())
	_, err = proxy.New(t.Context(), proxy.Config{})
	assert.EqualError(t, err, "proxy: nil API")
}
