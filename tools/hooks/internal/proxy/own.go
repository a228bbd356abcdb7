package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	onlyMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	// maxLive bounds the metadata of an object that is looked at, in bytes.
	maxLive = 8 << 20
	// tokenSecret is the type of Secrets that the API server fills with a token of a ServiceAccount.
	tokenSecret = "kubernetes.io/service-account-token"
)

// own adds the owner of the run to an object that is created. An apply or an update of an object that exists keeps the
// owner if the object has it, and doesn't take the object over from others.
func (c *call) own(ctx context.Context, p *Proxy, method string) *refusal {
	if c.pins() {
		return c.pin(ctx, p)
	}
	isWhole := method == "POST" || method == "PUT" || c.contentType == typeApply
	if !isWhole || c.target.subresource != "" || c.asksAboutItself() {
		return nil
	}
	found, refused := decodeObject(c.body, c.contentType)
	if refused != nil {
		return refused
	}
	if refused := c.hidesToken(found); refused != nil {
		return refused
	}
	c.given = found.name()
	isNew := method == "POST"
	if !isNew {
		live, refused := c.live(ctx, p, c.target)
		if refused != nil {
			return refused
		}
		isNew = live == nil || c.access.owner.owns(live)
	}
	if isNew {
		if err := found.own(c.access.owner, c.target.namespace); err != nil {
			return badRequest("body: %v", err)
		}
	}
	return c.put(found)
}

// hidesToken refuses a Secret that the API server would fill with a token that outlives the run.
func (c *call) hidesToken(found object) *refusal {
	if c.target.resource.Group != "" || c.target.resource.Resource != "secrets" {
		return nil
	}
	kind, err := found.secretType()
	if err != nil {
		return badRequest("body: %v", err)
	}
	if kind == tokenSecret {
		return forbidden("a Secret of the type %s: its token would outlive the run: mount the ServiceAccount in a Pod that needs it", kind)
	}
	return nil
}

// live returns the metadata of an object as the ServiceAccount may read it, nil if it doesn't exist.
func (c *call) live(ctx context.Context, p *Proxy, of target) (*metav1.PartialObjectMetadata, *refusal) {
	unavailable := func(err error) *refusal {
		return refuse(http.StatusBadGateway, metav1.StatusReasonInternalError, "%s: does it exist? %v", of, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.api.String(), nil)
	if err != nil {
		return nil, unavailable(err)
	}
	r.URL = p.at(of)
	r.Header.Set("Accept", onlyMetadata)
	c.access.impersonate(r.Header)
	response, err := p.upstream.RoundTrip(r)
	if err != nil {
		return nil, unavailable(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxLive+1))
	if err == nil {
		err = misplaced(response.StatusCode)
	}
	switch {
	case err != nil:
		return nil, unavailable(err)
	case response.StatusCode == http.StatusNotFound:
		return nil, nil
	case response.StatusCode != http.StatusOK:
		var status metav1.Status
		_ = json.Unmarshal(body, &status) // best effort: it is for people
		return nil, refuse(response.StatusCode, cmp.Or(status.Reason, metav1.StatusReasonInternalError), "%s %s: whether it exists must be known, so that nothing of others is taken over: %s", c.verb, of, status.Message)
	case len(body) > maxLive:
		return nil, unavailable(errors.New("its metadata is too large"))
	}
	live := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(body, live); err != nil {
		return nil, unavailable(err)
	}
	return live, nil
}
