// Generate makes the Go code of the messages in build/pb. It needs no protoc: a compiler written in Go reads the proto
// files, and the official plug-ins, pinned in go.mod, write the code.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	root   = "crosstown/v1"
	output = "build/pb"
	module = "crosstown-bot/build/pb"
)

func main() {
	log.SetFlags(0)
	folder, err := protoFolder()
	if err != nil {
		log.Fatal(err)
	}
	request, err := compile(folder)
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := generate(tool, request); err != nil {
			log.Fatalf("%s: %v", tool, err)
		}
	}
}

// protoFolder is where crosstown/v1/referee.proto lies: CROSSTOWN_PROTO, proto here, or that of the checkout.
func protoFolder() (string, error) {
	for _, folder := range []string{os.Getenv("CROSSTOWN_PROTO"), "proto", "../../proto"} {
		if folder == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, root, "referee.proto")); err == nil {
			return folder, nil
		}
	}
	return "", fmt.Errorf("%s/referee.proto found neither in proto/ nor in ../../proto: set CROSSTOWN_PROTO", root)
}

func compile(folder string) (*pluginpb.CodeGeneratorRequest, error) {
	paths, err := filepath.Glob(filepath.Join(folder, root, "*.proto"))
	if err != nil {
		return nil, err
	}
	parameters := []string{"module=" + module}
	files := make([]string, 0, len(paths))
	for _, path := range paths {
		name := filepath.Base(path)
		file := root + "/" + name
		files = append(files, file)
		parameters = append(parameters, fmt.Sprintf("M%s=%s/%s", file, module, strings.TrimSuffix(name, ".proto")))
	}
	slices.Sort(files)
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{folder}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	compiled, err := compiler.Compile(context.Background(), files...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: files,
		Parameter:      proto.String(strings.Join(parameters, ",")),
	}
	for _, file := range compiled {
		request.ProtoFile = append(request.ProtoFile, protodesc.ToFileDescriptorProto(file))
	}
	return request, nil
}

func generate(tool string, request *pluginpb.CodeGeneratorRequest) error {
	input, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	command := exec.Command("go", "tool", tool)
	command.Stdin, command.Stderr = bytes.NewReader(input), os.Stderr
	result, err := command.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(result, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return fmt.Errorf("%s", response.GetError())
	}
	for _, file := range response.File {
		path := filepath.Join(output, file.GetName())
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
