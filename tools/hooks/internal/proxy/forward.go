package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// passed are the headers of a caller that reach the API server. All others stay here: those with credentials, those that
// name a user or a caller of the caller, and those that nobody knows.
var passed = []string{"Accept", "Accept-Encoding", "User-Agent", "If-None-Match", "If-Modified-Since", "Cache-Control", "Traceparent"}

// maxStored bounds the response to a write, in bytes.
const maxStored = 16 << 20

// impersonate sets the user of a request. The API server adds the groups of a ServiceAccount by itself, so that the
// operator needs no right to impersonate groups.
func (a *Access) impersonate(header http.Header) {
	header.Set("Impersonate-User", "system:serviceaccount:"+a.grant.ServiceAccount.Namespace+":"+a.grant.ServiceAccount.Name)
}

// at returns the address of a target at the API server.
func (p *Proxy) at(t target) *url.URL {
	return p.api.JoinPath(escaped(t.path)...) // it has no "." and ".."
}

func escaped(parts []string) []string {
	all := make([]string, len(parts))
	for i, part := range parts {
		all[i] = url.PathEscape(part)
	}
	return all
}

// send forwards a call and copies the response. A response without a length, such as a watch, is copied as it comes.
func (p *Proxy) send(w http.ResponseWriter, r *http.Request, c *call) {
	forward := &httputil.ReverseProxy{
		Transport:      p.upstream,
		ErrorLog:       slog.NewLogLogger(p.logger.Handler(), slog.LevelDebug),
		Rewrite:        func(pr *httputil.ProxyRequest) { p.rewrite(pr, c) },
		ModifyResponse: func(response *http.Response) error { return p.answered(response, c) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			c.note(stored{}) // it may have happened
			c.log(p, http.StatusBadGateway)
			refuse(http.StatusBadGateway, metav1.StatusReasonInternalError, "%s %s: %v", c.verb, c.target, err).respond(w)
		},
	}
	forward.ServeHTTP(w, r)
}

// rewrite makes the request to the API server.
func (p *Proxy) rewrite(pr *httputil.ProxyRequest, c *call) {
	pr.Out.URL = p.at(c.target)
	pr.Out.URL.RawQuery = pr.In.URL.RawQuery
	pr.Out.Host = ""
	header := http.Header{}
	for _, name := range passed {
		if values := pr.In.Header.Values(name); len(values) > 0 {
			header[name] = values
		}
	}
	if header.Get("Accept-Encoding") == "" || c.verb != "read" {
		header.Set("Accept-Encoding", "identity")
	}
	c.access.impersonate(header)
	pr.Out.Body, pr.Out.ContentLength, pr.Out.TransferEncoding = http.NoBody, 0, nil
	if c.body != nil {
		header.Set("Content-Type", c.contentType)
		pr.Out.Body, pr.Out.ContentLength = io.NopCloser(bytes.NewReader(c.body)), int64(len(c.body))
	}
	if c.isNameless() || c.writes() && isBinary(header.Get("Accept")) {
		header.Set("Accept", typeJSON) // the response says which state was written
	}
	pr.Out.Header = header
}

// isBinary reports whether a caller wants a response that isn't text. Each client that reads such a response reads JSON.
func isBinary(accept string) bool {
	return strings.Contains(accept, "protobuf") || strings.Contains(accept, "cbor")
}

// isNameless reports whether the API server chooses the name of an object that is created.
func (c *call) isNameless() bool {
	return c.verb == "create" && c.target.name == "" && c.given == "" && !c.asksAboutItself()
}

// misplaced returns an error for a code that concerns the operator, and not the run.
func misplaced(code int) error {
	switch {
	case code == http.StatusUnauthorized:
		return errors.New("the API server refuses the credentials of the operator: correct them")
	case code >= http.StatusMultipleChoices && code < http.StatusBadRequest && code != http.StatusNotModified:
		return fmt.Errorf("the API server redirects (%d): redirects aren't followed", code)
	}
	return nil
}

// answered looks at a response before it is copied.
func (p *Proxy) answered(response *http.Response, c *call) error {
	response.Header.Del("Set-Cookie")
	code := response.StatusCode
	if err := misplaced(code); err != nil {
		return err
	}
	c.log(p, code)
	if code >= http.StatusBadRequest {
		return nil
	}
	if !c.writes() {
		return nil
	}
	written, err := read(response)
	if err != nil {
		return err
	}
	c.isDry = c.isDry || c.isNameless() && written.Name == "" // nothing is stored, as for reviews
	c.note(written)
	return nil
}

// stored is what a response says of the object that was written.
type stored = metav1.PartialObjectMetadata

// read returns what a response says, as far as it is JSON. The response can be copied as before.
func read(response *http.Response) (written stored, err error) {
	if media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); media != typeJSON {
		return written, nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxStored+1))
	switch {
	case err != nil:
		return written, fmt.Errorf("read the response: %w", err)
	case len(body) > maxStored:
		return written, fmt.Errorf("the response is larger than %d bytes", maxStored)
	}
	_ = response.Body.Close()
	_ = json.Unmarshal(body, &written) // it may be no object
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return written, nil
}

// writes reports whether a call creates or changes an object of the run.
func (c *call) writes() bool {
	isWrite := c.verb == "update" || c.verb == "patch" || c.verb == "create" && c.target.subresource == ""
	return isWrite && !c.isOwner && !c.isDry && !c.asksAboutItself()
}

// note notes that an object was written.
func (c *call) note(written stored) {
	if c.writes() {
		c.access.note(Object{
			Kind: c.kind, Namespace: c.target.namespace, Name: cmp.Or(c.target.name, c.given, written.Name),
			UID: written.UID, ResourceVersion: written.ResourceVersion,
		})
	}
}

// log logs a write, without its content.
func (c *call) log(p *Proxy, code int) {
	if c.verb == "" || c.verb == "read" {
		return
	}
	name := c.target.name
	if name == "" {
		name = c.given
	}
	p.logger.Debug("write of a run", "owner", c.access.owner.String(), "serviceAccount", c.access.grant.ServiceAccount.String(), "verb", c.verb,
		"resource", c.target.full(), "group", c.target.resource.Group, "namespace", c.target.namespace, "name", name, "code", code)
}
