package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/operkit/operkit/examples/buckets/cloud"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/spf13/pflag"
)

// largestAnswer is how many bytes of a response are read.
const largestAnswer = 64 << 10

// errNotFound is the error of a request for something that the cloud doesn't have.
var errNotFound = errors.New("the cloud doesn't have it")

// client sends requests to the cloud.
type client struct {
	url           string
	timeout, poll time.Duration
	http          http.Client
}

// flags declares the settings of the client.
func (c *client) flags(set *pflag.FlagSet) {
	set.StringVar(&c.url, "cloud.url", "http://127.0.0.1:9000", "address of the cloud")
	set.DurationVar(&c.timeout, "cloud.timeout", 10*time.Second, "the longest time that a request to the cloud may take")
	set.DurationVar(&c.poll, "cloud.poll", 10*time.Second, "time between two looks at a job of the cloud")
}

// nameOf returns the name of a bucket in the cloud.
func nameOf(b *Bucket) string { return b.Namespace + "." + b.Name }

// put creates or changes the bucket.
func (c *client) put(ctx context.Context, b *Bucket) error {
	return c.send(ctx, http.MethodPut, "/buckets/"+nameOf(b), cloud.Bucket{Region: b.Spec.Region, Public: b.Spec.Public}, nil)
}

func (c *client) get(ctx context.Context, b *Bucket) (found cloud.Bucket, err error) {
	return found, c.send(ctx, http.MethodGet, "/buckets/"+nameOf(b), nil, &found)
}

func (c *client) delete(ctx context.Context, b *Bucket) error {
	return c.send(ctx, http.MethodDelete, "/buckets/"+nameOf(b), nil, nil)
}

func (c *client) setQuota(ctx context.Context, b *Bucket) (id string, err error) {
	var job cloud.Job
	err = c.send(ctx, http.MethodPut, "/buckets/"+nameOf(b)+"/quota", b.Spec.Quota.Value(), &job)
	return job.ID, err
}

// isDone reports whether a job has ended. The cloud forgets jobs.
func (c *client) isDone(ctx context.Context, id string) (bool, error) {
	var job cloud.Job
	err := c.send(ctx, http.MethodGet, "/jobs/"+id, nil, &job)
	if errors.Is(err, errNotFound) {
		return true, nil
	}
	return job.Done, err
}

// send sends a request with a body, if there is one, and reads the response into answer, if it isn't nil.
func (c *client) send(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return err
	}
	response, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	switch code := response.StatusCode; {
	case err != nil:
		return err
	case code == http.StatusNotFound:
		return errNotFound
	case code == http.StatusConflict:
		return request.Precondition("%s %s: %s", method, path, strings.Trim(string(text), "\"\n"))
	case code >= 300:
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, strings.Trim(string(text), "\"\n"))
		if code >= 400 && code < 500 {
			return request.Permanent(err)
		}
		return err
	case answer == nil:
		return nil
	}
	return json.Unmarshal(text, answer)
}
