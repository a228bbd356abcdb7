package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// example is one of metacontroller's examples: a folder with a hook, its definition and a test.
type example struct {
	name string
	// hook is the file of the hook, for python3 or node.
	hook string
	// hosts are the names in the URLs of its definition.
	hosts []string
}

// left are the examples whose tests can't pass here, with the reason.
var left = map[string]string{
	"indexedjob":            "its test reads the logs of Pods, which nobody runs",
	"webhook-auth":          "its hook listens with certificates that are mounted into its Pod",
	"leader-election":       "it is about the deployment of metacontroller itself",
	"pprof-profiling":       "it is about the deployment of metacontroller itself",
	"prometheus-monitoring": "it is about the deployment of metacontroller itself",
}

var host = regexp.MustCompile(`https?://([a-z0-9.-]+)(?::\d+)?/`)

// examples returns the examples of a checkout that have a hook for python3 or node.
func examples(checkout string) (all []example, err error) {
	tests, err := filepath.Glob(filepath.Join(checkout, "examples", "*", "test.sh"))
	if err == nil && len(tests) == 0 {
		err = fmt.Errorf("%s: no examples/*/test.sh: name a checkout of metacontroller", checkout)
	}
	if err != nil {
		return nil, err
	}
	for _, test := range tests {
		dir := filepath.Dir(test)
		one := example{name: filepath.Base(dir)}
		for _, file := range []string{"sync.py", "sync.js"} {
			if path := filepath.Join(dir, "manifest", file); exists(path) {
				one.hook = path
			}
		}
		if one.hook == "" || left[one.name] != "" {
			continue
		}
		if one.hosts, err = hostsIn(dir); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// hostsIn returns the hosts of the URLs in the manifests of a folder.
func hostsIn(dir string) (hosts []string, err error) {
	for _, pattern := range []string{"manifest/*.yaml", "v1/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, found := range host.FindAllSubmatch(text, -1) {
				if name := string(found[1]); !slices.Contains(hosts, name) {
					hosts = append(hosts, name)
				}
			}
		}
	}
	return hosts, nil
}
