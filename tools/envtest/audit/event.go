package audit

import (
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// The stages of a request at which it may be counted.
const (
	ResponseStarted  = "ResponseStarted"
	ResponseComplete = "ResponseComplete"
	// Panic replaces ResponseComplete if the handler panicked.
	Panic = "Panic"
)

// Event is one line of the log.
type Event struct {
	Call
	// Stage is the stage of the request, one of the constants.
	Stage string
}

// line has the fields of an audit.k8s.io/v1 Event that this package reads.
type line struct {
	Kind                     string    `json:"kind"`
	AuditID                  string    `json:"auditID"`
	Stage                    string    `json:"stage"`
	RequestURI               string    `json:"requestURI"`
	Verb                     string    `json:"verb"`
	User                     user      `json:"user"`
	ImpersonatedUser         *user     `json:"impersonatedUser"`
	UserAgent                string    `json:"userAgent"`
	ObjectRef                object    `json:"objectRef"`
	ResponseStatus           status    `json:"responseStatus"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
}

type user struct {
	Username string `json:"username"`
}

type object struct {
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	APIGroup    string `json:"apiGroup"`
	APIVersion  string `json:"apiVersion"`
}

type status struct {
	Code int `json:"code"`
}

// Parse reads one line of the log. It returns an error for anything but JSON of kind Event.
func Parse(text []byte) (Event, error) {
	var in line
	if err := json.Unmarshal(text, &in); err != nil {
		return Event{}, fmt.Errorf("audit event: %w", err)
	}
	if in.Kind != "Event" {
		return Event{}, fmt.Errorf("audit event: the kind is %q, not Event", in.Kind)
	}
	uri, err := url.ParseRequestURI(in.RequestURI)
	if err != nil {
		return Event{}, fmt.Errorf("audit event %s: request URI: %w", in.AuditID, err)
	}
	call := Call{
		ID: in.AuditID, Received: in.RequestReceivedTimestamp,
		User: in.User.Username, UserAgent: in.UserAgent, Verb: in.Verb,
		Group: in.ObjectRef.APIGroup, Version: in.ObjectRef.APIVersion,
		Resource: in.ObjectRef.Resource, Subresource: in.ObjectRef.Subresource,
		Namespace: in.ObjectRef.Namespace, Name: in.ObjectRef.Name,
		Path: uri.Path, Code: in.ResponseStatus.Code, DryRun: uri.Query().Get("dryRun") != "",
	}
	if in.ImpersonatedUser != nil {
		call.User = in.ImpersonatedUser.Username
	}
	return Event{Call: call, Stage: in.Stage}, nil
}
