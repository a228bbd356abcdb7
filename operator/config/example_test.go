package config_test

import (
	"fmt"
	"time"

	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/internal/settings"
)

func ExampleDefault() {
	fmt.Println(config.Default().Watch.Period)
	// Output: 10m0s
}

// A program's own defaults, section by section.
func ExampleConfig() {
	c := config.Default()
	c.KubeAPI = config.KubeAPI{QPS: 50, Burst: 100}
	c.Retry = config.Retry{First: time.Second, Longest: time.Minute, Attempts: 10}
	c.Rollout = config.Rollout{Concurrency: 2}
	c.Status = config.Status{Manage: true, Graph: true}
	c.Objects = config.Objects{InternalNames: true}
	c.Versions = config.Versions{Supported: []string{"1.0.0", "1.1.0"}, Strict: true}
	c.LeaderElection.Lock = config.LeaseLock
	c.Peering = config.Peering{Priority: "0"}
	c.Webhooks = config.Webhooks{Address: ":9443", Service: "hooks", Manage: true}
	c.Events = config.Events{Level: config.AllEvents}
	c.Heartbeat = config.Heartbeat{File: "/tmp/beat", Period: time.Minute}
	c.Log = config.Log{Level: "debug", Format: "json", Filters: []string{"watch:info"}}
	c.Health = config.Health{Address: ":8081"}
	c.Metrics = config.Metrics{Address: config.AutoAddress, Authorize: true}
	c.Profiling = config.Profiling{Address: "127.0.0.1:6060"}
	c.Manifests = config.Manifests{Directory: "/tmp/manifests"}
	s := settings.New("guestbook-operator", settings.Options{Defaults: func(defaults *config.Config) { *defaults = c }})
	loaded, err := s.Load([]string{"GUESTBOOK_OPERATOR_RETRY_ATTEMPTS=3"})
	fmt.Println(loaded.Retry, loaded.LeaderElection.Lock, loaded.Versions.Supported, err)
	// Output: {1s 1m0s 3} lease [1.0.0 1.1.0] <nil>
}

func ExampleDurationVar() {
	s := settings.New("guestbook-operator", settings.Options{})
	var interval time.Duration
	config.DurationVar(s.Flags(), &interval, "till.interval", time.Minute, "how often tills are counted")
	_, err := s.Load([]string{"GUESTBOOK_OPERATOR_TILL_INTERVAL=1hr30m"})
	fmt.Println(interval, err)
	// Output: 1h30m0s <nil>
}

func ExampleParseDuration() {
	fmt.Println(config.ParseDuration("12hr13m14s"))
	// Output: 12h13m14s <nil>
}
