package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	v1 "github.com/operkit/operkit/examples/webapp/api/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// largestAnswer is how many bytes of a channel's response are read.
const largestAnswer = 64 << 10

// client sends requests to channels. A channel that hangs delays a reconcile by this timeout, but only once.
var client = &http.Client{Timeout: 5 * time.Second}

// channels stores the last results of release channels, so that a reconcile needn't wait for a request. The zero value
// is ready to use. It is safe for concurrent use.
type channels struct {
	mu    sync.Mutex
	known map[string]channel // by the name of the WebApp
}

// channel is the release channel of one WebApp.
type channel struct {
	app types.UID // another WebApp may get the same name
	url string

	version string // the version that it named last, empty if it never named one
	failure error  // why it can't be asked now
}

// version returns the version that the channel of app named last, or "" if it never named one. The error says why the
// last request failed. If there was no request yet, version sends one, since the next poll may be far away.
func (c *channels) version(ctx context.Context, app *v1.WebApp) (string, error) {
	one, known := c.of(app.Name)
	if !known || one.app != app.UID || one.url != app.Spec.Channel {
		one = channel{app: app.UID, url: app.Spec.Channel}
		one.version, one.failure = ask(ctx, one.url)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.known == nil {
			c.known = map[string]channel{}
		}
		c.known[app.Name] = one
	}
	return one.version, one.failure
}

// poll requests the version from the channel of a WebApp that has been reconciled before. source.PollEach calls it.
func (c *channels) poll(ctx context.Context, key deploy.Ref) (string, error) {
	one, known := c.of(key.Name)
	if !known {
		return "", nil // the first reconcile sends the request
	}
	version, err := ask(ctx, one.url)
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.known[key.Name]; now.app == one.app && now.url == one.url {
		if now.failure = err; err == nil {
			now.version = version
		}
		c.known[key.Name] = now
	}
	return version, err
}

func (c *channels) of(name string) (one channel, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, known = c.known[name]
	return one, known
}

// ask requests the version from the channel at an address.
func ask(ctx context.Context, address string) (string, error) {
	question, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", fmt.Errorf("the release channel can't be asked: %w", cause(err))
	}
	answer, err := client.Do(question)
	if err != nil {
		return "", fmt.Errorf("the release channel doesn't answer: %w", cause(err))
	}
	defer func() { _ = answer.Body.Close() }() // it is only read
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the release channel answers %s", answer.Status)
	}
	var released struct {
		Version string `json:"version"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, largestAnswer)).Decode(&released); err != nil {
		return "", fmt.Errorf("the release channel answers no JSON document with a version: %w", cause(err))
	}
	// The version comes from outside and becomes a label and an image tag. A valid label value is also a valid tag.
	if problems := validation.IsValidLabelValue(released.Version); released.Version == "" || len(problems) > 0 {
		return "", fmt.Errorf("the release channel names the version %q, which is none: %s", released.Version, strings.Join(problems, "; "))
	}
	return released.Version, nil
}

// cause returns an error without the parts that differ from try to try, such as the port of the client, so that each
// reason is logged only once.
func cause(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	var network *net.OpError
	if errors.As(err, &network) {
		err = network.Err
	}
	return err
}
