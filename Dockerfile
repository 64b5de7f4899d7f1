# The gateway in a container. It listens on every address of the container, so it takes a token:
#   docker build -t clew .
#   docker run -p 127.0.0.1:48800:48800 -e CLEW_SERVE__TOKEN=… -v clew:/data clew
FROM python:3.13-slim

WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir '.[gateway]' && rm -rf /src && useradd --create-home --uid 10001 clew \
    && install -d -o clew /data

USER clew
WORKDIR /data
ENV CLEW_HOME=/data CLEW_SERVE__HOST=0.0.0.0 CLEW_SERVE__PORT=48800
VOLUME /data
EXPOSE 48800
HEALTHCHECK --interval=30s --timeout=3s CMD ["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 48800), 2)"]
ENTRYPOINT ["clew"]
CMD ["serve"]
