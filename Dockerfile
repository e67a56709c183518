# The image of cmd/server: one static program, nothing else, not as root. Of any other program with
#
#   docker build -t belfry-worker --build-arg PROGRAM=./functions/worker/cloudrun .
#
# BUILD names an image with Go. GOPROXY and the like reach the build where they are given (--build-arg).
ARG BUILD=golang:1.26

FROM ${BUILD} AS build
ARG GOPROXY
ARG GOSUMDB
ARG PROGRAM=./cmd/server
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags="-s -w -buildid=" -o /server ${PROGRAM}

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/adapters/aws/rds.pem /rds.pem
COPY --from=build /server /server
USER 65532:65532
EXPOSE 8080 8081
HEALTHCHECK --interval=5s --timeout=6s --start-period=30s --retries=3 CMD ["/server", "health"]
ENTRYPOINT ["/server"]
